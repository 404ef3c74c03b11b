// Calls, outermost first, and hits of a CPU profile as Chrome DevTools' own model has them, one
// line for each call path with hits: node model.mjs FILE. Bundled by ./run with the model.
import * as fs from 'node:fs';
import {CPUProfileDataModel} from
  'chrome-devtools-frontend/front_end/models/cpu_profile/CPUProfileDataModel.ts';

const profile = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const span = (profile.endTime - profile.startTime) / 1000; // ms; the model's own span changes
const model = new CPUProfileDataModel(profile);
const hit = span / model.totalHitCount;
const open = [[model.profileHead, []]];
while (open.length) {
  const [node, path] = open.pop();
  const hits = Math.round(node.self / hit);
  if (hits)
    console.log(JSON.stringify([path, hits]));
  for (const child of node.children)
    open.push([child, [...path, child.functionName]]);
}
console.log(JSON.stringify([null, model.totalHitCount]));
