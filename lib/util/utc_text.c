/*
 * utc_text.c - civil dates by Hinnant's algorithm
 *
 * Years begin in March, so that the leap day is the last day of its year; 400 years have 146,097
 * days.
 */
#include "util/utc_text.h"

#include <inttypes.h>
#include <stdio.h>

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* `day` counts from 1970-01-01. */
static void civil_date(int64_t day, int64_t *year, int *month, int *day_of_month)
{
    int64_t shifted = day + 719468; /* from 0000-03-01 */
    int64_t era = floor_div(shifted, 146097), in_era = shifted - era * 146097;
    int64_t in_era_year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    int64_t in_year = in_era - (365 * in_era_year + in_era_year / 4 - in_era_year / 100);
    int64_t from_march = (5 * in_year + 2) / 153;
    *day_of_month = (int)(in_year - (153 * from_march + 2) / 5 + 1);
    *month = (int)(from_march < 10 ? from_march + 3 : from_march - 9);
    *year = in_era_year + era * 400 + (*month <= 2);
}

void pci_utc_text(int64_t second, uint32_t nanosecond, int digits, char text[PCI_UTC_TEXT_BYTES])
{
    char fraction[12];
    int64_t day = floor_div(second, 86400), year;
    int in_day = (int)(second - day * 86400), month, day_of_month;
    civil_date(day, &year, &month, &day_of_month);
    snprintf(fraction, sizeof fraction, ".%09" PRIu32, nanosecond);
    size_t used = digits < 0 ? 10 : (size_t)digits + 1;
    while (digits < 0 && used > 1 && fraction[used - 1] == '0')
        used--;
    fraction[used > 1 ? used : 0] = 0;
    snprintf(text, PCI_UTC_TEXT_BYTES, "%04" PRId64 "-%02d-%02dT%02d:%02d:%02d%sZ", year, month,
             day_of_month, in_day / 3600, in_day / 60 % 60, in_day % 60, fraction);
}

void pci_utc_text_ns(int64_t ns, char text[PCI_UTC_TEXT_BYTES])
{
    int64_t rest = ns % 1000000000, second = ns / 1000000000 - (rest < 0);
    pci_utc_text(second, (uint32_t)(rest + (rest < 0) * 1000000000), -1, text);
}
