#!/usr/bin/env node
/* The page in Firefox: every panel of a profile, figures against profile-query, files and links.

     cargo build --release
     target/release/ipu-stack compile gemm-projections -o block.ipuexe
     target/release/ipu-stack run block.ipuexe -o block.ipuprofile
     npm install --prefix target/firefox puppeteer-core    # drives it by WebDriver BiDi; brings no browser
     node e2e/checks/firefox.mjs block.ipuprofile block.ipuexe

   FIREFOX names the program where it is not `firefox-esr`. Status 0: every line is true, and the page
   wrote nothing to the console. The browser tests say the same of Chromium, and more.  */

import { spawn, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = process.env.IPU_STACK ?? join(ROOT, 'target/release/ipu-stack');
const FIREFOX = process.env.FIREFOX ?? '/usr/bin/firefox-esr';
const WAIT = 30_000;

const [profile, program] = process.argv.slice(2);
if (!profile || !program) {
  console.error('usage: firefox.mjs PROFILE PACKAGE');
  process.exit(2);
}
const resolve = createRequire(join(ROOT, 'target/firefox/')).resolve;
const { default: puppeteer } = await import(pathToFileURL(resolve('puppeteer-core')));

const folder = mkdtempSync(join(tmpdir(), 'firefox-check-'));
const problems = [];
let server, browser, links;
let failed = false;
try {
  server = spawn(PROGRAM, ['serve', '--port', '0', profile]);
  links = await printedLinks(server, 2);
  browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: FIREFOX,
    headless: true,
    defaultViewport: null,
    args: ['--width=1400', '--height=1100'],
  });
  await files();
  await panels();
  await link();
  await rendered();
  if (problems.length > 0) throw new Error(`the page wrote: ${problems.join('; ')}`);
} catch (error) {
  failed = true;
  console.error(`not ok  ${error.message}`);
} finally {
  await browser?.close().catch((error) => console.error(`Firefox does not end: ${error.message}`));
  server?.kill();
  rmSync(folder, { recursive: true });
}
process.exit(failed ? 1 : 0);

/** The first `count` addresses that the server prints: its own, then those of its files. */
function printedLinks(child, count) {
  return new Promise((done, fail) => {
    let text = '';
    const more = (bytes) => {
      text += bytes;
      const found = [...text.matchAll(/http:\/\/[\w.:]+\/\S*/g)].map((it) => it[0]);
      if (found.length >= count) done(found);
    };
    child.stdout.on('data', more);
    child.stderr.on('data', more);
    child.on('error', fail);
    child.on('exit', () => fail(new Error(`the server ended: ${text}`)));
    setTimeout(() => fail(new Error(`the server does not start: ${text}`)), WAIT).unref();
  });
}

/** A tab at `url` whose console is listened to. */
async function tab(url) {
  const page = await browser.newPage();
  page.on('console', (it) => problems.push(it.text()));
  page.on('pageerror', (it) => problems.push(it.message));
  await page.goto(url);
  return page;
}

/** Waits until `met` holds on the page. */
async function until(page, what, met, ...given) {
  for (const end = Date.now() + WAIT; Date.now() < end; ) {
    if (await page.evaluate(met, ...given)) return;
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error(`waited in vain: ${what}`);
}

/** Waits for a part of the page to be in a state. */
function be(page, id, state) {
  const is = (id, state) => document.querySelector(`[data-testid=${id}]`)?.dataset.state === state;
  return until(page, `${id} is ${state}`, is, id, state);
}

async function drawn(page) {
  await be(page, 'timeline', 'drawn');
  await be(page, 'kernel-table', 'ready');
}

function settled(page) {
  return until(page, 'every panel has its answer', () =>
    [...document.querySelectorAll('[data-panel]')].every((it) => it.dataset.state !== 'pending'));
}

async function give(page, selector, path) {
  const input = await page.waitForSelector(selector);
  await input.uploadFile(path);
}

/** A file as it is, and the same in gzip. */
async function files() {
  const packed = join(folder, 'packed.ipuprofile.gz');
  writeFileSync(packed, gzipSync(readFileSync(profile)));
  for (const [what, path] of [['a profile', profile], ['a profile in gzip', packed]]) {
    const page = await tab(links[0]);
    await until(page, 'the landing page', () => document.body.dataset.state === 'empty');
    const start = Date.now();
    await give(page, '[data-testid=file-input]', path);
    await drawn(page);
    console.log(`ok  ${what} opens: ${Date.now() - start} ms`);
    await page.close();
  }
}

/** Every panel, figures, keys and pointer. */
async function panels() {
  const page = await tab(links[0]);
  await give(page, '[data-testid=file-input]', profile);
  await drawn(page);
  const shown = await page.evaluate(() =>
    [...document.querySelectorAll('[data-testid=kernel-row]')].map((row) => [
      row.dataset.name,
      Number(row.querySelector('[data-column=workCycles]').dataset.raw),
    ]));
  const words = ['profile-query', profile, '--kind', 'compute', '--sort-by', 'work-cycles', '--limit', '0', '--json'];
  const answer = JSON.parse(execFileSync(PROGRAM, words, { maxBuffer: 1 << 28 }));
  const expected = answer.groups.map((it) => [it.name, it.workCycles]);
  if (JSON.stringify(shown) !== JSON.stringify(expected)) {
    throw new Error(`the table shows ${JSON.stringify(shown)}, not ${JSON.stringify(expected)}`);
  }
  console.log(`ok  the table of kernels is that of profile-query: ${shown.length} rows`);
  for (const panel of ['in-view', 'chip', 'phases', 'exchange', 'compare', 'plots', 'memory']) {
    await page.click(`[data-testid=show-${panel}]`);
    await settled(page);
    if (panel === 'compare') await give(page, '[data-testid=other-input]', profile);
    if (panel === 'memory') {
      await give(page, '[data-testid=package-input]', program);
      await until(page, 'memory lies below the cycles', () =>
        document.querySelector('[data-testid=tile-map]')?.dataset.across === 'cycles');
    }
    await settled(page);
    const alarm = await page.evaluate(() => document.querySelector('[role=alert]')?.innerText);
    if (alarm) throw new Error(`${panel}: ${alarm}`);
    console.log(`ok  ${panel}`);
  }
  await moves(page);
  await page.close();
}

/** The pointer names a sample, and a key zooms. */
async function moves(page) {
  const timeline = await page.waitForSelector('[data-testid=timeline]');
  await timeline.scrollIntoView();
  const box = await timeline.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForSelector('[data-testid=tooltip]', { timeout: WAIT });
  const span = () => document.querySelector('[data-testid=timeline]').dataset.span;
  const before = await page.evaluate(span);
  await page.keyboard.press('KeyW');
  await until(page, 'W zooms', (was) =>
    document.querySelector('[data-testid=timeline]').dataset.span !== was, before);
  console.log('ok  the pointer names a sample, W zooms');
}

/** A link restores what was seen. */
async function link() {
  const page = await tab(`${links[1]}#v=1&view=phases&colour=efficiency`);
  await be(page, 'timeline', 'drawn');
  await settled(page);
  const pressed = await page.evaluate(() =>
    document.querySelector('[data-testid=show-phases]').getAttribute('aria-pressed'));
  if (pressed !== 'true') throw new Error('the link does not restore its panel');
  console.log('ok  a link opens its profile and its panel');
  await page.close();
}

/** One file that opens without a server. */
async function rendered() {
  const path = join(folder, 'rendered.html');
  execFileSync(PROGRAM, ['profile-render', profile, '-o', path]);
  const page = await tab(pathToFileURL(path).href);
  await drawn(page);
  console.log('ok  a rendered page opens from disk');
  await page.close();
}
