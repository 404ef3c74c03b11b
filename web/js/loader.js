/*
 * loader.js - the first script of the page: decompresses the others
 *
 * Their text becomes an inline script, whose hash the content security policy has, too. unpack() holds
 * no reference to anything outside of it: the worker gets its text.
 */

/* What cannot be shown: a message, and the part of the page that needs no script. */
window.pcolFail = (error) => {
    const message = document.getElementById("message"), app = document.getElementById("app");
    message.textContent = "The interactive report cannot be shown: " + error.message;
    message.hidden = false;
    if (app) app.hidden = true;
    document.documentElement.classList.remove("js");
};

/* The bytes of "SUM SIZE DIGITS", as scripts/page-template packs them: LZMA in base 85, with the
 * sum and the size that cksum prints. */
function unpack(text) {
    const [sum, size, digits = ""] = text.split(" "), values = {};
    const packed = new Uint8Array(Math.ceil(digits.length / 5) * 4);
    let at = 0, digit = 0;
    for (let char = 33; char < 127; char++)
        if (!"\"%&'<>@\\`".includes(String.fromCharCode(char))) values[char] = digit++;
    for (let i = 0; i < digits.length; i += 5) {
        let value = 0;
        for (let k = i; k < i + 5; k++)
            value = value * 85 + (k < digits.length ? values[digits.charCodeAt(k)] : 84);
        for (let k = 24; k >= 0; k -= 8) packed[at++] = value / 2 ** k;
    }

    /* The header has one byte of parameters, and 12 bytes of sizes, which are not needed. The
     * model: probabilities of a bit 0, in 1/2048, at these offsets. */
    const contexts = packed[0] % 9, lows = Math.floor(packed[0] / 9) % 5;
    const places = (1 << Math.floor(packed[0] / 45)) - 1;
    const REPEAT = 192, FIRST = 204, SECOND = 216, THIRD = 228, LONG = 240, SLOT = 432, FAR = 688,
        NEAR = 816, LENGTH = 832, REPEAT_LENGTH = 1346, LITERAL = 1860;
    const odds = new Uint16Array(LITERAL + (768 << contexts + lows)).fill(1024);
    /* The range, and the place in it; an array, since variables of functions would be boxed. */
    const now = new Uint32Array([2 ** 32 - 1, 0]);
    for (at = 13; at < 18; at++) now[1] = now[1] << 8 | packed[at];
    const take = (bound, is) => {
        if (is) now[1] -= bound;
        now[0] = is ? now[0] - bound : bound;
        if (now[0] < 2 ** 24) {
            now[0] <<= 8;
            now[1] = now[1] << 8 | packed[at++];
        }
        return is;
    };
    const bit = (i) => {
        const odd = odds[i], bound = (now[0] >>> 11) * odd, is = now[1] < bound ? 0 : 1;
        odds[i] = is ? odd - (odd >> 5) : odd + (2048 - odd >> 5);
        return take(bound, is);
    };
    const number = (base, bits) => {
        let node = 1;
        for (let i = 0; i < bits; i++) node = node << 1 | bit(base + node);
        return node - (1 << bits);
    };
    const reversed = (base, bits) => {
        let node = 1, value = 0;
        for (let i = 0; i < bits; i++) {
            const is = bit(base + node);
            node = node << 1 | is;
            value |= is << i;
        }
        return value;
    };
    const length = (base, place) => (bit(base) === 0 ? 2 + number(base + 2 + place * 8, 3) :
        bit(base + 1) === 0 ? 10 + number(base + 130 + place * 8, 3) : 18 + number(base + 258, 8));
    const distance = (count) => {
        const slot = number(SLOT + Math.min(count - 2, 3) * 64, 6);
        if (slot < 4) return slot;
        let value = 2 | slot & 1, bits = (slot >> 1) - 1;
        if (slot < 14) return (value << bits) + reversed(FAR + (value << bits) - slot, bits);
        for (; bits > 4; bits--) {
            const half = now[0] >>> 1;
            now[0] = 2 * half;
            value = value * 2 + take(half, now[1] < half ? 0 : 1);
        }
        return value * 16 + reversed(NEAR, 4);
    };

    const out = new Uint8Array(size);
    let done = 0, state = 0, last = [0, 0, 0, 0];
    while (done < out.length) {
        const place = done & places, moment = state << 4 | place;
        if (bit(moment) === 0) {
            const before = done > 0 ? out[done - 1] : 0;
            const base = LITERAL + 768 * (((done & (1 << lows) - 1) << contexts) +
                (before >> 8 - contexts));
            let node = 1, old = out[done - 1 - last[0]], matched = state < 7 ? 0 : 256;
            while (node < 256) {
                old <<= 1;
                const match = old & matched, is = bit(base + matched + match + node);
                node = node << 1 | is;
                if (match !== is << 8) matched = 0;
            }
            out[done++] = node;
            state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
            continue;
        }
        let count = 1;
        if (bit(REPEAT + state) === 0) {
            count = length(LENGTH, place);
            last = [distance(count), ...last.slice(0, 3)];
            state = state < 7 ? 7 : 10;
        } else {
            const which = bit(FIRST + state) === 0 ? 0 : bit(SECOND + state) === 0 ? 1 :
                2 + bit(THIRD + state);
            if (which === 0 && bit(LONG + moment) === 0) state = state < 7 ? 9 : 11;
            else {
                last.unshift(...last.splice(which, 1));
                count = length(REPEAT_LENGTH, place);
                state = state < 7 ? 8 : 11;
            }
        }
        for (; count > 0; count--, done++) out[done] = out[done - 1 - last[0]];
    }

    let rest = 0;
    const add = (byte) => {
        rest ^= byte << 24;
        for (let i = 0; i < 8; i++) rest = rest << 1 ^ (rest < 0 ? 0x04c11db7 : 0);
    };
    out.forEach(add);
    for (let left = out.length; left > 0; left >>= 8) add(left & 255);
    if (~rest >>> 0 !== Number(sum) || out.length === 0) throw new Error("its parts are damaged");
    return out;
}

document.documentElement.classList.add("js");
document.addEventListener("DOMContentLoaded", () => {
    try {
        const script = document.createElement("script");
        script.textContent = new TextDecoder().decode(
            unpack(document.getElementById("code").textContent));
        document.head.append(script);
        script.remove();
        window.pcolStart();
    } catch (error) {
        window.pcolFail(error);
    }
});
