/*
 * firefox.mjs - the page in Firefox, through WebDriver BiDi: opening, numbers, search, keys, view
 *
 * FIREFOX: the program; empty: skipped.
 */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { WORK, data, report, rows, skipped, test, view } from "./harness.mjs";

const require = createRequire(path.join(process.env.NODE_DEPS, "x"));
let browser;

async function open(place) {
    const address = await place, page = await browser.newPage();
    page.problems = [];
    page.on("pageerror", (error) => page.problems.push(`error: ${error.stack || error}`));
    page.on("console", (message) => {
        if (message.type() === "error") page.problems.push(`console: ${message.text()}`);
    });
    await page.setViewport({ width: 1280, height: 900 });
    await page.goto(/^http:/.test(address) ? address : pathToFileURL(address).href);
    await page.waitForSelector("html[data-ready], #message:not([hidden])", { timeout: 60000 });
    await settle(page);
    return page;
}

/* As in harness.mjs, whose function is of the other driver. */
async function settle(page) {
    await new Promise((done) => setTimeout(done, 180));
    await page.waitForFunction(() => {
        const app = window.pcolApp;
        return !app || (!app.engine.current && app.engine.waiting.length === 0);
    });
}

async function close(page) {
    const problems = page.problems;
    await page.close();
    assert.deepEqual(problems, []);
}

const text = (page, selector) => page.$eval(selector, (node) => node.textContent);

async function table(page) {
    await page.click("#tab-table");
    await settle(page);
    const shown = await page.evaluate(() => window.pcolApp.view.text());
    return shown.trimEnd().split("\n").slice(1).map((line) => line.split("\t"))
        .map((cells) => [Number(cells[1]), Number(cells[3]), cells[0]]).sort();
}

const top = (...args) => rows("top", "-q", "-n", "0", ...args)
    .map((r) => [r.self, r.total, r.name]).sort();

async function fill(page, selector, value) {
    await page.focus(selector);
    await page.$eval(selector, (input) => input.select());
    await page.keyboard.type(value);
    await settle(page);
}

async function numbers() {
    for (const name of ["pprof/cpu.pb.gz", "rprof/gc.Rprof", "firefox/small.json"]) {
        const page = await open(report(data(name)));
        assert.deepEqual(await table(page), top(data(name)), name);
        await close(page);
    }
}

async function drawn() {
    const page = await open(report(data("pprof/cpu.pb.gz")));
    for (const view_ of ["flame", "inverted", "stacks"]) {
        await page.click(`#tab-${view_}`);
        await settle(page);
        const boxes = await page.evaluate(() => window.pcolApp.view.flames[0].boxes.count);
        assert.ok(boxes > 10, `${boxes} boxes of ${view_}`);
    }
    await page.screenshot({ path: path.join(WORK, "firefox.png") });
    await close(page);
}

async function search() {
    const page = await open(report(data("pprof/cpu.pb.gz")));
    await page.keyboard.press("/");
    await page.keyboard.type("main\\.fib");
    await settle(page);
    assert.match(await text(page, "#matched"), /^1 name, 490 ms/);
    await page.click("#only");
    await settle(page);
    assert.match(await text(page, "#summary"), /selected 490 ms/);
    await fill(page, "#search", "(");
    assert.match(await text(page, "#matched"), /not a regular expression/);
    await close(page);
}

async function keys() {
    const page = await open(report(data("pprof/cpu.pb.gz")));
    await page.focus("#panel canvas");
    for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowDown");
    assert.match(await text(page, "#details"), /^main\.main/);
    await page.keyboard.press("Enter");
    await page.keyboard.press("c");
    await settle(page);
    assert.match(await text(page, "#peek-self"), /^main\.main: total/);
    await page.focus("#tab-peek");
    await page.keyboard.press("ArrowRight");
    await settle(page);
    assert.equal(await page.evaluate(() => window.pcolApp.state.get("view")), "table");
    await close(page);
}

async function ranges() {
    const page = await open(report(data("rprof/demo.Rprof")));
    await fill(page, "#range-from", "3");
    await page.keyboard.press("Tab");
    await fill(page, "#range-to", "40");
    await page.keyboard.press("Tab");
    await settle(page);
    assert.deepEqual(await table(page), top("--order", "4-41", data("rprof/demo.Rprof")));
    await close(page);
}

async function served() {
    const list = ["pprof/cpu.pb.gz", "pprof/heap.pb.gz"].map(data), page = await open(view(...list));
    await page.select("#base", "-");
    await settle(page);
    assert.deepEqual(await table(page), top(list[0]));
    await page.select("#file", "1");
    await settle(page);
    assert.deepEqual(await table(page), top(list[1]));
    await close(page);
}

export async function firefox() {
    if (!process.env.FIREFOX) {
        skipped.push("the page in Firefox, firefox-esr is missing");
        return;
    }
    const puppeteer = require("puppeteer-core");
    browser = await puppeteer.launch({ browser: "firefox", executablePath: process.env.FIREFOX,
        headless: true });
    for (const [name, action] of Object.entries({ numbers, drawn, search, keys, ranges, served }))
        await test(`firefox ${name}`, action);
    await browser.close();
}
