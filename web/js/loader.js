/*
 * loader.js - the first script of the page: decompresses the others
 *
 * Their text becomes an inline script, whose hash the content security policy has, too.
 */

/* What cannot be shown: a message, and the part of the page that needs no script. */
window.pcolFail = (error) => {
    const message = document.getElementById("message");
    message.textContent = "The interactive report cannot be shown: " + error.message;
    message.hidden = false;
    document.getElementById("app").hidden = true;
    document.documentElement.classList.remove("js");
};

/* Base 85 of scripts/page-template. */
function decode85(text) {
    const values = {}, bytes = new Uint8Array(Math.ceil(text.length / 5) * 4);
    let at = 0, digit = 0;
    for (let code = 33; code < 127; code++)
        if (!"\"%&'<>@\\`".includes(String.fromCharCode(code))) values[code] = digit++;
    for (let i = 0; i < text.length; i += 5) {
        let value = 0;
        for (let k = i; k < i + 5; k++)
            value = value * 85 + (k < text.length ? values[text.charCodeAt(k)] : 84);
        for (let k = 0; k < 4; k++) bytes[at++] = value / 2 ** (24 - 8 * k);
    }
    return bytes.subarray(0, Math.floor(text.length * 4 / 5));
}

document.documentElement.classList.add("js");
document.addEventListener("DOMContentLoaded", async () => {
    try {
        const bytes = decode85(document.getElementById("code").textContent);
        const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
        const script = document.createElement("script");
        script.textContent = await new Response(stream).text();
        document.head.append(script);
    } catch (error) {
        window.pcolFail(error);
    }
});
