// report.mjs - drive a page of bench/cases/report.py in a headless Chromium
//
//     node report.mjs NODE_MODULES CHROMIUM pcol|speedscope PAGE.html[#FRAGMENT]
//
// Prints an object: "open" ms from the start of the navigation until the first graph is drawn, "memory" bytes of the
// renderer, and for pcol the ms between frames while zooming, panning and brushing and the ms of other selections until they
// are drawn.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [modules, executablePath, kind, file] = process.argv.slice(2);
const { chromium } = createRequire(join(modules, "x"))("playwright-core");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
page.setDefaultTimeout(150000);

async function memory() {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  return Math.max(...processInfo.filter((p) => p.type === "renderer").map((p) =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${p.id}/status`, "utf8"))[1]) * 1024));
}

const drawn = {
  pcol: () => document.documentElement.dataset.ready && window.pcolApp.view.flames[0].boxes && performance.now(),
  speedscope: () => document.title !== "speedscope" && document.querySelectorAll("canvas").length > 0 && performance.now(),
};

await page.goto("file://" + file);
const result = { open: await (await page.waitForFunction(drawn[kind])).jsonValue() };
result.memory = await memory();

if (kind === "pcol") {
  Object.assign(result, await page.evaluate(async () => {
    const app = window.pcolApp, frame = () => new Promise((done) => requestAnimationFrame(done));
    const idle = async () => {
      while (app.engine.current || app.engine.waiting.length) await new Promise((done) => setTimeout(done, 1));
      await frame();
    };
    const frames = async (count, step) => {
      const gaps = [];
      let last = await frame();
      for (let i = 0; i < count; i++) {
        step(i);
        const now = await frame();
        gaps.push(now - last);
        last = now;
      }
      await idle();
      return gaps;
    };
    const timed = async (action) => {
      const start = performance.now();
      await action();
      await idle();
      return performance.now() - start;
    };
    const flame = app.view.flames[0], { span } = app.lanes;
    await idle();
    const gaps = [
      ...await frames(60, (i) => flame.zoomBy(i < 30 ? 0.9 : 1 / 0.9, 0.3)),
      ...await frames(60, (i) => flame.setWindow(i / 100, i / 100 + 0.3)),
      ...await frames(60, (i) => app.setRange([span * 0.2, span * (0.3 + i / 100)], true)),
    ];
    const selections = [];
    for (let i = 0; i < 5; i++)
      selections.push(await timed(async () => {
        app.state.set({ range: `${Math.round(span * i / 10)}~${Math.round(span * (i + 4) / 10)}` });
        await app.selectRange();
      }));
    app.state.set({ range: "" });
    const searches = [];
    for (const text of ["f1", "f2[0-9]", "f3"]) {
      await app.setSearch(text);
      searches.push(await timed(() => app.refresh()));
    }
    const labels = [];
    for (const thread of [app.info.threads[0]?.name, ""])
      labels.push(await timed(async () => {
        app.state.set({ thread: thread || "" });
        await app.selectAll();
      }));
    return { gaps, selections, searches, labels };
  }));
}
console.log(JSON.stringify(result));
await browser.close();
