/*
 * looks.mjs - axe-core over all views in both themes, and pictures at two widths
 *
 * The pictures are for people: WORK/*.png. The narrow page has the same elements: axe-core sees it in
 * one theme.
 */
import assert from "node:assert/strict";
import path from "node:path";
import { WORK, axeSource, close, data, open, report, settle, tab, test } from "./harness.mjs";

async function findings(page) {
    await page.evaluate(axeSource);
    const { violations } = await page.evaluate(() => window.axe.run(document, {
        resultTypes: ["violations"] }));
    return violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(" | ")}`);
}

async function look(colorScheme, width) {
    const isAudited = width > 400 || colorScheme === "light";
    const reports = { one: report(data("pprof/cpu.pb.gz")),
        two: report(data("rprof/plain.Rprof"), data("rprof/gc.Rprof")) };
    for (const [kind, file] of Object.entries(reports)) {
        const page = await open(file, { colorScheme, viewport: { width, height: 900 } });
        for (const view of ["flame", "inverted", "peek", "table", "stacks"]) {
            await tab(page, view);
            if (view === "peek") {
                const name = kind === "one" ? "main.work" : "<GC>";
                await page.fill("#name", name);
                await settle(page);
            }
            const picture = path.join(WORK, `${kind}-${view}-${colorScheme}-${width}.png`);
            await page.screenshot({ path: picture });
            if (isAudited) assert.deepEqual(await findings(page), [], `${view} of ${kind}`);
            const wide = await page.evaluate(() => document.documentElement.scrollWidth);
            assert.ok(wide <= width, `${view} of ${kind} is ${wide} px wide`);
        }
        await page.click("#help");
        if (isAudited) assert.deepEqual(await findings(page), [], "keys");
        await close(page);
    }
}

export async function looks() {
    for (const scheme of ["light", "dark"])
        for (const width of [1280, 400])
            await test(`looks ${scheme} ${width}`, () => look(scheme, width));
}
