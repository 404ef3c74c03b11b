/*
 * harness.mjs - a headless Chromium, reports of profiles, and the count of tests
 *
 * Environment: PCOL, DATA (tests/data), SHARED (../shared, may be missing), WORK (a directory for
 * reports and pictures), NODE_DEPS (a directory with node_modules).
 */
import { execFileSync, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import path from "node:path";

const require = createRequire(path.join(process.env.NODE_DEPS, "x"));
export const { chromium } = require("playwright-core");
export const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
export const { PCOL, DATA, SHARED, WORK } = process.env;

let passed = 0, failed = 0;
export const skipped = [];

const { ONLY, TIMES, PART = 0, PARTS = 1 } = process.env;
let turn = 0;

/* Run a test; of PARTS processes each runs every PARTS-th one. */
export async function test(name, action) {
    if (turn++ % Number(PARTS) !== Number(PART) || (ONLY && !name.includes(ONLY))) return;
    const start = performance.now();
    try {
        await action();
        passed++;
    } catch (error) {
        failed++;
        console.log(`FAIL ${name}\n${error.stack || error}`);
    }
    if (TIMES)
        console.log(`${((performance.now() - start) / 1000).toFixed(1)} s  ${name}`);
    endServers();
}

export function finish() {
    for (const line of skipped) console.log(`skipped: ${line}`);
    console.log(`${passed} passed, ${failed} failed, ${skipped.length} skipped`);
    process.exitCode = failed > 0 || turn === 0 ? 1 : 0;
}

/* The output of pcol; options: input as bytes. */
export function pcol(...args) {
    return execFileSync(PCOL, args, { encoding: "utf8", maxBuffer: 1 << 30 });
}

export const rows = (...args) => JSON.parse(pcol(...args, "--format", "json"));

export const data = (name) => path.join(DATA, name);

/* A file of ../shared; null, and a line about it, where that is missing. */
export function shared(name) {
    const file = path.join(SHARED, "corpus", name);
    if (existsSync(file)) return file;
    skipped.push(`${name}, ../shared is missing`);
    return null;
}

/* Whether report() starts `pcol view` instead: the same tests then drive its page. */
export const serving = { on: false };
const servers = [];

/* Start a server; resolves to the address of its page. */
export function view(...args) {
    const child = spawn(PCOL, ["view", "-q", ...args], { stdio: ["ignore", "pipe", "inherit"] });
    servers.push(child);
    return new Promise((resolve, reject) => {
        child.stdout.once("data", (data) => resolve(String(data).trim()));
        child.once("exit", (code) => reject(new Error(`pcol view has ended: ${code}`)));
    });
}

export function endServers() {
    for (const child of servers.splice(0)) child.kill("SIGINT");
}

let reports = 0;

/* Write a report; returns its path. */
export function report(...args) {
    if (serving.on) return view(...args);
    const out = path.join(WORK, `report-${++reports}.html`);
    execFileSync(PCOL, ["report", "-q", ...args, "-f", "-o", out], { maxBuffer: 1 << 26 });
    return out;
}

const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-dev-shm-usage"] });
export let browser = await launch();

/* Open the page of a file or, of a server, of an address. What must not happen is collected in
 * page.problems: errors, requests to anything else, violations of the content security policy. */
export async function open(place, options = {}) {
    const address = await place, served = /^http:/.test(address);
    const { hash = "", init, ready = true, ...rest } = options;
    if (!browser.isConnected()) browser = await launch(); /* one that ends fails one test */
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 },
        acceptDownloads: true, ...rest });
    const page = await context.newPage();
    page.setDefaultTimeout(15000);
    page.problems = [];
    page.on("pageerror", (error) => page.problems.push(`error: ${error.stack}`));
    page.on("console", (message) => {
        if (message.type() === "error") page.problems.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
        if (!(served ? request.url().startsWith(address) : /^(file|blob|data):/.test(request.url())) ||
            (request.url().startsWith("file:") && !request.isNavigationRequest()))
            page.problems.push(`request: ${request.url()}`);
    });
    await page.addInitScript(() => {
        window.violations = [];
        document.addEventListener("securitypolicyviolation", (event) => {
            window.violations.push(event.violatedDirective + " " + event.blockedURI);
        });
    });
    if (init) await page.addInitScript(init);
    await page.goto((served ? address : pathToFileURL(address).href) + hash);
    if (ready) {
        await page.waitForSelector("html[data-ready], #message:not([hidden])",
            { state: "attached", timeout: 60000 });
        await settle(page);
    }
    return page;
}

/* Wait until no request to the engine waits and no timer of the page is due. */
export async function settle(page) {
    await page.waitForTimeout(180);
    await page.waitForFunction(() => {
        const app = window.pcolApp;
        return !app || (!app.engine.current && app.engine.waiting.length === 0);
    });
    await page.evaluate(() => new Promise((done) =>
        requestAnimationFrame(() => requestAnimationFrame(done))));
}

export async function close(page) {
    const violations = await page.evaluate(() => window.violations || []);
    await page.context().close();
    const problems = [...page.problems, ...violations.map((v) => `CSP: ${v}`)];
    if (problems.length) throw new Error(problems.join("\n"));
}

/* The text of the view, as it is copied: columns by TAB. */
export async function viewRows(page) {
    await settle(page);
    const text = await page.evaluate(() => window.pcolApp.view.text());
    const [head, ...lines] = text.replace(/\n+$/, "").split("\n").map((line) => line.split("\t"));
    return lines.map((line) => Object.fromEntries(head.map((key, i) => [key, line[i]])));
}

export async function tab(page, name) {
    await page.click(`#tab-${name}`);
    await settle(page);
}
