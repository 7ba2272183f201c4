// The commands of reports on a running site, and their pages in a browser: light, dark, narrow, on paper, without scripts, for everybody.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type BrowserPage, browser_program, openBrowser } from '../support/browser/chromium.ts'
import { findBarriers } from '../support/browser/find-barriers.ts'
import { createScratchFolder, runCommand, runJsonCommand, serveSite } from '../support/command/run-command.ts'
import { startLyingService } from '../support/http/lying-service.ts'
import { findForeignMarkup } from '../support/report/find-foreign-markup.ts'
import { renderSampleDissent, renderSampleDissents, renderSampleEvidence } from '../support/report/sample-sessions.ts'
import { renderSampleAudit, renderSampleSite } from '../support/report/sample-sites.ts'
import { requires } from '../support/runner/requires.ts'

const { dir, remove } = createScratchFolder('reports')
const at = (name: string) => path.join(dir, name)
const site = at('alpha')
const env = { PLATFORM_SITE: site }
const read = (name: string) => readFileSync(at(name), 'utf8')
let running: Awaited<ReturnType<typeof serveSite>>
let analyst: { env: Record<string, string> }
let conflict: string

async function openSession(scores: readonly number[]): Promise<string> {
  const policy = ['--lens', 'person', '--lens-version', '1', '--m', '2', '--n', '2']
  const { id } = await runJsonCommand(['consensus', 'create', ...policy], analyst)
  for (const [number, score] of scores.entries()) {
    const who = number === 0 ? 'alice' : 'bob'
    const words = ['--contributor', who, '--key', `${who}-1`, '--score', String(score)]
    const trust = ['--accuracy', '0.9', '--credibility', '0.8']
    await runJsonCommand(['consensus', 'contribute', id, ...words, ...trust], analyst)
  }
  return id
}

beforeAll(async () => {
  await runJsonCommand(['init', '--site', site, '--tenant', 'acme', '--profile', 'demo'])
  running = await serveSite(site)
  const mint = ['token', 'mint', '--subject', 'demo', '--roles', 'analyst', '--clearance', 'SECRET']
  const { token } = await runJsonCommand(mint, { env })
  analyst = { env: { ...env, PLATFORM_TOKEN: token } }
  const ratified = await openSession([0.9, 0.95])
  conflict = await openSession([0.95, 0.05])
  const show = ['evidence', 'show', ratified, '--out', at('evidence.json')]
  for (const words of [show, ['consensus', 'dissent', conflict]])
    await vi.waitFor(async () => expect((await runCommand(words, { env })).exit).toBe(0), 60_000)
})
afterAll(async () => {
  await running?.stop()
  remove()
})

describe('the commands', () => {
  test('evidence: valid by the keys of the site, and a changed block is drawn as invalid', async () => {
    const words = ['report', 'evidence', at('evidence.json'), '--out', at('evidence.html')]
    expect(await runJsonCommand(words, { env })).toMatchObject({ verdict: 'valid', faults: [] })
    expect(read('evidence.html')).toMatch(/class="verdict good"><p><strong>Valid<\/strong>/)
    writeFileSync(at('changed.json'), read('evidence.json').replace('"pair_score":0.9,', '"pair_score":0.91,'))
    const changed = await runCommand(['report', 'evidence', at('changed.json'), '--out', at('evidence.html')], { env })
    expect(changed.exit).toBe(5)
    expect(read('evidence.html')).toMatch(/class="verdict poor"><p><strong>Invalid<\/strong>/)
    writeFileSync(at('none.json'), '{}')
    expect(await runCommand(['report', 'evidence', at('none.json'), '--out', at('none.html')], { env })).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining('not an evidence block'),
    })
  })

  test('dissent: one by its session, and all', async () => {
    await runJsonCommand(['report', 'dissent', conflict, '--out', at('dissent.html')], { env })
    expect(read('dissent.html')).toContain(`<h1>Session ${conflict} in conflict</h1>`)
    expect(read('dissent.html')).toContain('The contributors disagree too much.')
    const all = await runJsonCommand(['report', 'dissent', '--out', at('dissents.html')], { env })
    expect(all).toMatchObject({ dissents: 1, open: 1 })
    expect(read('dissents.html')).toContain('1 dissent is open.')
    const missing = await runCommand(['report', 'dissent', 'ses_none', '--out', at('none.html')], { env })
    expect(missing).toMatchObject({ exit: 1, stdout: '' })
  })

  test('site: its roles, findings and sessions', async () => {
    const written = await runJsonCommand(['report', 'site', '--out', at('site.html')], { env })
    expect(written.roles).toBeGreaterThan(1)
    expect(written.findings).toBeGreaterThan(5)
    expect(read('site.html')).toContain('<h1>Federation and health of alpha</h1>')
    expect(read('site.html')).toContain('Sessions by state')
  })

  test('audit: of the databases, and of an export with its keys; a changed record is named', async () => {
    const written = await runJsonCommand(['report', 'audit', '--out', at('audit.html')], { env })
    expect(written).toMatchObject({ whole: true })
    expect(read('audit.html')).toContain('consensus.session.create')
    writeFileSync(at('audit.jsonl'), (await runCommand(['audit', 'export'], { env })).stdout)
    await runCommand(['keys', 'export', '--out', at('keys.json')], { env })
    const words = ['report', 'audit', at('audit.jsonl'), '--keys', at('keys.json'), '--out', at('exported.html')]
    expect(await runJsonCommand(words)).toMatchObject({ whole: true })
    writeFileSync(at('audit.jsonl'), read('audit.jsonl').replace('"subject":"demo"', '"subject":"mallory"'))
    expect((await runCommand(words)).exit).toBe(5)
    expect(read('exported.html')).toContain('Not proven whole.')
  })

  test('a page replaces a report and no other file, and only its owner reads it', async () => {
    writeFileSync(at('notes.html'), '<p>notes</p>')
    for (const words of [['site'], ['audit'], ['dissent'], ['evidence', at('evidence.json')]])
      expect(await runCommand(['report', ...words, '--out', at('notes.html')], { env })).toMatchObject({
        exit: 3,
        stderr: expect.stringContaining('is not a report'),
      })
    expect(read('notes.html')).toBe('<p>notes</p>')
    expect(statSync(at('site.html')).mode & 0o077).toBe(0)
  })

  test('a service that lies in every text adds no mark-up', async () => {
    const service = await startLyingService('</style><img src=x onerror=alert(1)>"\'&<svg/onload=alert(2)>')
    const token = { env: { PLATFORM_TOKEN: 'x' } }
    const words = ['report', 'dissent', '--url', service.url, '--out', at('lies.html')]
    const { exit, stderr } = await runCommand(words, token)
    expect([exit, stderr]).toEqual([0, ''])
    expect(findForeignMarkup(read('lies.html'))).toBeUndefined()
    expect(read('lies.html')).toContain('&lt;svg/onload=alert(2)&gt;')
    await service.close()
  })
})

describe('in a browser', () => {
  const inBrowser = requires(browser_program)
  const samples = {
    evidence: renderSampleEvidence,
    dissent: renderSampleDissent,
    dissents: () => renderSampleDissents(undefined, 4),
    site: renderSampleSite,
    audit: renderSampleAudit,
  }
  let page: BrowserPage
  afterAll(async () => await page?.close())

  const setScheme = (value: 'light' | 'dark') =>
    page.emulate('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] })
  const setWidth = (width: number) =>
    page.emulate('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: false })

  inBrowser('each page has no barrier in light and dark, and fits narrow windows', async () => {
    page = await openBrowser()
    for (const [name, render] of Object.entries(samples)) {
      writeFileSync(at(`sample-${name}.html`), render())
      for (const scheme of ['light', 'dark'] as const) {
        await setScheme(scheme)
        await setWidth(scheme === 'light' ? 1_100 : 1_500)
        await page.open(at(`sample-${name}.html`))
        await page.read('document.querySelectorAll("details").forEach((each) => { each.open = true })')
        expect(await findBarriers(page), `${name}, ${scheme}`).toEqual([])
      }
      await setWidth(360)
      expect(await page.read('document.documentElement.scrollWidth <= innerWidth'), name).toBe(true)
    }
    expect(page.complaints).toEqual([])
  })

  inBrowser('labels of a chart do not cover each other, and stay within it', async () => {
    await setWidth(1_100)
    for (const name of Object.keys(samples)) {
      await page.open(at(`sample-${name}.html`))
      const faults = await page.read(`[...document.querySelectorAll('.chart svg')].flatMap((svg) => {
        const { width, height } = svg.viewBox.baseVal
        const boxes = [...svg.querySelectorAll('text')].map((text) => [text.textContent, text.getBBox()])
        return boxes.flatMap(([name, one], at) => [
          ...(one.x < -1 || one.x + one.width > width + 1 || one.y < -1 || one.y + one.height > height + 1 ? ['outside: ' + name] : []),
          ...boxes.slice(at + 1).flatMap(([other, two]) =>
            one.x < two.x + two.width && two.x < one.x + one.width && one.y < two.y + two.height - 3 && two.y < one.y + one.height - 3 ? [name + ' | ' + other] : []),
        ])
      })`)
      expect(faults, name).toEqual([])
    }
  })

  inBrowser('each page is a picture, and a document on paper', async () => {
    for (const name of Object.keys(samples)) {
      await page.open(at(`sample-${name}.html`))
      const { data: picture } = await page.emulate('Page.captureScreenshot', { format: 'png' })
      expect(Buffer.from(picture, 'base64').length, name).toBeGreaterThan(10_000)
      const { data: paper } = await page.emulate('Page.printToPDF', { printBackground: true })
      expect(Buffer.from(paper, 'base64').toString('latin1'), name).toMatch(/^%PDF-/)
    }
  })

  inBrowser('the pages of the running site have no barrier either, and are the same without scripts', async () => {
    await page.emulate('Emulation.setScriptExecutionDisabled', { value: false })
    for (const name of ['evidence', 'dissent', 'dissents', 'site', 'audit', 'lies']) {
      await page.open(at(`${name}.html`))
      expect(await page.read('[...document.scripts].map((each) => each.outerHTML.slice(0, 200))'), name).toEqual([])
      expect(await findBarriers(page), name).toEqual([])
    }
    expect(page.complaints).toEqual([])
  })
})
