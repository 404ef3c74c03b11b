/*
 * cli_timestamp.c - times in ISO 8601: YYYY-MM-DD[THH:MM[:SS[.fraction]][Z|+HH:MM|-HH:MM]]
 *
 * A blank may replace the T; the last colon is optional. Days are counted in the proleptic
 * Gregorian calendar. Tests: tests/cli/pack.test, tests/cli/clickhouse.test.
 */
#include "cli.h"

/* Parse two digits in a range; -1 if invalid. */
static int two_digits(const char *text, int least, int most)
{
    if (text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9')
        return -1;
    int value = 10 * (text[0] - '0') + text[1] - '0';
    return value >= least && value <= most ? value : -1;
}

/* Days since 1970-01-01, by eras of 400 years that begin in March. */
static int64_t days_since_epoch(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* 0: no date. */
static int read_date(const char *text, int64_t *days)
{
    static const int lengths[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int century = two_digits(text, 0, 99);
    int year = century < 0 ? -1 : two_digits(text + 2, 0, 99);

    if (year < 0 || text[4] != '-')
        return 0;
    int month = two_digits(text + 5, 1, 12);
    if (month < 0 || text[7] != '-')
        return 0;
    int day = two_digits(text + 8, 1, lengths[month - 1]);
    year += 100 * century;
    int leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (day <= 0 || (month == 2 && day == 29 && !leap))
        return 0;
    *days = days_since_epoch(year, month, day);
    return 1;
}

/* "Z", "+HH:MM", "-HHMM" or nothing, up to the end of the text; 0: another text. */
static int read_zone(const char *text, int64_t *offset)
{
    int is_east = *text == '+';

    *offset = 0;
    if (strcmp(text, "") == 0 || strcmp(text, "Z") == 0)
        return 1;
    if (*text != '+' && *text != '-')
        return 0;
    int hours = two_digits(text + 1, 0, 23);
    if (hours < 0)
        return 0;
    text += 3;
    text += *text == ':';
    int minutes = two_digits(text, 0, 59);
    if (minutes < 0 || text[2] != '\0')
        return 0;
    *offset = (is_east ? 1 : -1) * (3600 * (int64_t)hours + 60 * (int64_t)minutes);
    return 1;
}

int cli_timestamp(const char *text, int64_t *seconds)
{
    int64_t days, offset;

    if (strlen(text) < 10 || !read_date(text, &days))
        return 0;
    *seconds = 86400 * days;
    text += 10;
    if (*text == '\0')
        return 1;
    int hour = *text == 'T' || *text == ' ' ? two_digits(text + 1, 0, 23) : -1;
    int minute = hour >= 0 && text[3] == ':' ? two_digits(text + 4, 0, 59) : -1;
    int second = 0;
    if (minute < 0)
        return 0;
    text += 6;
    if (*text == ':') {
        second = two_digits(text + 1, 0, 60);
        if (second < 0)
            return 0;
        text += 3;
        if (*text == '.' || *text == ',') {
            size_t digits = strspn(text + 1, "0123456789");
            if (digits == 0)
                return 0;
            text += 1 + digits;
        }
    }
    if (!read_zone(text, &offset))
        return 0;
    *seconds += 3600 * (int64_t)hour + 60 * (int64_t)minute + second - offset;
    return 1;
}
