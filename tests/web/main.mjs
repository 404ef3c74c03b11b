/* main.mjs - all tests of the page; ONLY=TEXT: those whose name contains it; TIMES=1: with times */
import { browser, finish } from "./harness.mjs";
import { change } from "./change.mjs";
import { drops } from "./drop.mjs";
import { features } from "./features.mjs";
import { firefox } from "./firefox.mjs";
import { hostile } from "./hostile.mjs";
import { looks } from "./looks.mjs";
import { numbers } from "./numbers.mjs";
import { tracks } from "./tracks.mjs";
import { views } from "./view.mjs";

await features();
await change();
await hostile();
await numbers();
await tracks();
await views();
await drops();
await looks();
await browser.close();
await firefox();
finish();
