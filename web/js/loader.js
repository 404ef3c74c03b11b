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

document.documentElement.classList.add("js");
document.addEventListener("DOMContentLoaded", async () => {
    try {
        const binary = atob(document.getElementById("code").textContent);
        const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
        const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
        const script = document.createElement("script");
        script.textContent = await new Response(stream).text();
        document.head.append(script);
    } catch (error) {
        window.pcolFail(error);
    }
});
