// The report of a run: one page without network, in which every text of the data is text; decisions made there reach the next run.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type BrowserPage, browser_program, openBrowser } from '../support/browser/chromium.ts'
import { findBarriers } from '../support/browser/find-barriers.ts'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { findForeignMarkup, readPageText, removeScripts } from '../support/report/find-foreign-markup.ts'
import { generatePeople } from '../support/resolution/generate-people.ts'
import { requires } from '../support/runner/requires.ts'

const { dir, remove } = createScratchFolder('report')
const at = (name: string) => path.join(dir, name)
const hostile = '</script><img src=x onerror=alert(1)>"\'&<!--\u2028\u202e'
const people = generatePeople(200, 5)
/** Ids that a spreadsheet, a page or a file of commas could take for something else. */
const nameRecord = (id: string) => `=${id},"<b>${hostile}`
const quote = (cell: string) => `"${cell.replaceAll('"', '""')}"`

beforeAll(async () => {
  const [head = '', ...lines] = people.csv.trimEnd().split('\n')
  const city = head.split(',').indexOf('city')
  const records = lines.map((line) => {
    const cells = line.split(',')
    return cells
      .map((cell, column) => quote(column === 0 ? nameRecord(cell) : column === city ? cell + hostile : cell))
      .join(',')
  })
  writeFileSync(at('<people>.csv'), [head, ...records, ''].join('\n'))
  const truth = people.truth.map(([id, person]) => `${quote(nameRecord(id))},${person}`)
  writeFileSync(at('truth.csv'), ['id,cluster', ...truth, ''].join('\n'))
  await runJsonCommand(resolve('run'))
  await runJsonCommand(['resolve', 'report', at('run')])
})
afterAll(remove)

const resolve = (out: string) => [
  'resolve',
  'run',
  '--lens',
  'persons',
  '--data',
  at('<people>.csv'),
  '--accept-poor',
  '--out',
  at(out),
]
const readPage = (file = 'run/report.html') => readFileSync(at(file), 'utf8')

describe('the page', () => {
  test('has only its own elements and attributes, whatever the data say', () => {
    const page = readPage()
    expect(findForeignMarkup(page)).toBeUndefined()
    expect(readPageText(page)).toContain('&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;')
    expect(page.match(/<\/script/g)).toHaveLength(2)
    expect(page).not.toMatch(/[\u2028\u2029\u202e]/)
  })

  test('names no address but its own sections, and forbids all others', () => {
    const page = readPage()
    for (const [, address] of removeScripts(page).matchAll(/(?:href|src|action|url)\s*[=(]\s*"?([^"\s>)]*)/g))
      if (!address?.startsWith('x')) expect(address).toMatch(/^#/)
    const [, policy = ''] = /Content-Security-Policy" content="([^"]*)"/.exec(page) ?? []
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'$/,
    )
    for (const [kind, text] of [
      ['script', /<script>([\s\S]*?)<\/script>/],
      ['style', /<style>([\s\S]*?)<\/style>/],
    ] as const) {
      const digest = createHash('sha256')
        .update(text.exec(page)?.[1] ?? '')
        .digest('base64')
      expect(policy, kind).toContain(`${kind}-src 'sha256-${digest}'`)
    }
    expect(page).not.toMatch(/ style="| on\w+="/)
  })

  test('has headings in order, names for pictures, and scopes for the heads of tables', () => {
    const page = removeScripts(readPage())
    const levels = [...page.matchAll(/<h([1-6])>/g)].map(([, level]) => Number(level))
    expect(levels[0]).toBe(1)
    for (const [index, level] of levels.entries()) expect(level - (levels[index - 1] ?? 1)).toBeLessThanOrEqual(1)
    for (const [picture] of page.matchAll(/<svg [^>]*>/g))
      expect(picture).toMatch(/aria-label="[^"]+"|aria-hidden="true"/)
    for (const [head] of page.matchAll(/<th[ >][^>]*>?/g)) expect(head).toContain('scope=')
  })

  test('says the verdict, the figures of the run and its limits', async () => {
    const page = readPage()
    const run = JSON.parse(readFileSync(at('run/run.json'), 'utf8'))
    for (const heading of [
      'Pairs to decide',
      'Scores',
      'Threshold',
      'Weights',
      'Blocking',
      'Records that cannot be linked',
      'Clusters',
      'Sources',
    ])
      expect(page).toContain(`<h2>${heading}</h2>`)
    expect(page).toContain(`<dd>${run.records}</dd>`)
    expect(page).toContain(
      `<strong>${{ good: 'Good', fair: 'Fair', poor: 'Poor' }[run.quality.verdict as 'good']}</strong>`,
    )
    expect(page).toMatch(/The \d+ pairs whose decision changes most, of \d+/)
    expect((page.match(/<article /g) ?? []).length).toBeLessThanOrEqual(100)
    expect(page).not.toContain('<article class="pair" hidden')
  })

  test('is the same for the same run, and replaces an earlier report and nothing else', async () => {
    await runJsonCommand(['resolve', 'report', at('run'), '--out', at('again.html')])
    expect(readPage('again.html')).toBe(readPage())
    writeFileSync(at('run/report.html'), readPage().replace('</main>', 'stale</main>'))
    await runJsonCommand(['resolve', 'report', at('run')])
    expect(readPage()).toBe(readPage('again.html'))
    writeFileSync(at('notes.html'), '<p>made by platform resolve report</p>')
    expect(await runCommand(['resolve', 'report', at('run'), '--out', at('notes.html')])).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining('is not a report'),
    })
    expect(readPage('notes.html')).toBe('<p>made by platform resolve report</p>')
  })

  test('draws precision and recall by the truth where it is known', async () => {
    expect(readPage()).toContain('by the probabilities of the scores alone')
    await runJsonCommand(['resolve', 'report', at('run'), '--labels', at('truth.csv'), '--out', at('labelled.html')])
    expect(readPage('labelled.html')).toMatch(
      /Precision and recall of pairs by the labels, for the scores alone: at the cut, \d+/,
    )
    writeFileSync(at('some.csv'), 'id_l,id_r,match\n')
    const refused = await runCommand([
      'resolve',
      'report',
      at('run'),
      '--labels',
      at('some.csv'),
      '--out',
      at('no.html'),
    ])
    expect(refused).toMatchObject({ exit: 1, stderr: expect.stringContaining('some labelled pairs') })
    expect(existsSync(at('no.html'))).toBe(false)
  })

  test('does not ask about labels made since the run', async () => {
    const all = await runJsonCommand(['resolve', 'report', at('run'), '--out', at('open.html')])
    const [first = ''] = JSON.parse(/id="page-data">(.*)<\/script>/.exec(readPage('open.html'))?.[1] ?? '').pairs
    writeFileSync(at('labels.csv'), `source_l,id_l,source_r,id_r,match\n${first},0\n`)
    const rest = await runJsonCommand([
      ...['resolve', 'report', at('run'), '--out', at('open.html'), '--decisions', at('labels.csv')],
    ])
    expect([all.decided, rest.decided]).toEqual([0, 1])
    const data = JSON.parse(/id="page-data">(.*)<\/script>/.exec(readPage('open.html'))?.[1] ?? '')
    expect(data.kept).toEqual([`${first},reject`])
    expect(data.pairs).not.toContain(first)
  })

  test('is not written of a folder without a run', async () => {
    expect(await runCommand(['resolve', 'report', dir])).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('has no run.json'),
    })
  })
})

describe('in a browser', () => {
  let page: BrowserPage
  const inBrowser = requires(browser_program)

  inBrowser('the page loads without a complaint, and is read without a script', async () => {
    page = await openBrowser()
    await page.open(at('run/report.html'))
    expect(page.complaints).toEqual([])
    expect(
      await page.read('document.images.length + document.querySelectorAll("b, iframe, object, link, base").length'),
    ).toBe(0)
    expect(await page.read('document.querySelectorAll("h2").length')).toBe(8)
    expect(await findBarriers(page)).toEqual([])
    expect(await page.read('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await page.emulate('Emulation.setScriptExecutionDisabled', { value: true })
    await page.open(at('run/report.html'))
    await page.emulate('Emulation.setScriptExecutionDisabled', { value: false })
    expect(await page.read('[...document.querySelectorAll(".pair")].every((pair) => pair.checkVisibility())')).toBe(
      true,
    )
    expect(await page.read('document.querySelector(".controls").checkVisibility()')).toBe(false)
  })

  inBrowser('no label of a plot covers another, in a narrow window too', async () => {
    for (const width of [1_100, 360]) {
      await page.emulate('Emulation.setDeviceMetricsOverride', {
        width,
        height: 900,
        deviceScaleFactor: 1,
        mobile: false,
      })
      await page.open(at('labelled.html'))
      expect(await page.read('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      const covered = await page.read(`[...document.querySelectorAll('.plot svg')].flatMap((svg) => {
        const boxes = [...svg.querySelectorAll('text')].map((text) => [text.textContent, text.getBBox()])
        return boxes.flatMap(([name, one], at) => boxes.slice(at + 1).flatMap(([other, two]) =>
          one.x < two.x + two.width && two.x < one.x + one.width && one.y < two.y + two.height - 3 && two.y < one.y + one.height - 3 ? [name + ' | ' + other] : []))
      })`)
      expect(covered).toEqual([])
    }
  })

  inBrowser('pairs are decided by keyboard, and the saved file reaches the next run', async () => {
    await page.open(at('run/report.html'))
    expect(await page.read('document.querySelectorAll(".pair:not([hidden])").length')).toBe(1)
    await page.read('document.getElementById("viewer").focus()')
    for (const key of ['c', 'r', 'd', 'ArrowLeft', 'ArrowLeft', 'ArrowRight']) await page.press(key)
    expect(await page.read('document.getElementById("position").textContent')).toMatch(/^3 of /)
    expect(await page.read('document.getElementById("decided").textContent')).toBe('3 decisions')
    expect(await page.read('document.querySelector("[data-decision=defer]").getAttribute("aria-pressed")')).toBe('true')
    await page.press('s')
    const saved = path.join(page.downloads, 'decisions.csv')
    await vi.waitFor(() => expect(readdirSync(page.downloads)).toContain('decisions.csv'), 20_000)
    await vi.waitFor(() => expect(readFileSync(saved, 'utf8').endsWith(',defer\n')).toBe(true), 20_000)
    expect(readFileSync(saved, 'utf8')).toMatch(/^source_l,id_l,source_r,id_r,decision\n[^\n]*"'=/)
    const run = await runJsonCommand([...resolve('decided'), '--decisions', saved])
    expect(run.decisions).toEqual({ counted: 2, overruled: [] })
    expect(page.complaints).toEqual([])
  })

  inBrowser('decided pairs are not asked about again, and a cluster is decided as a whole', async () => {
    const written = await runJsonCommand(['resolve', 'report', at('decided')])
    expect(written.decided).toBe(2)
    expect(readPage('decided/report.html')).toContain('2 pairs are decided, and not asked about again')
    await page.open(at('decided/report.html'))
    const { pairs, kept } = await page.read('JSON.parse(document.getElementById("page-data").textContent)')
    expect(kept).toHaveLength(2)
    for (const line of kept) expect(pairs).not.toContain(line.replace(/,(confirm|reject)$/, ''))
    const size = await page.read(`(() => {
      const cluster = [...document.querySelectorAll('.cluster')].find((each) => each.querySelector('[data-act=split]'))
      const splits = cluster.querySelectorAll('[data-act=split]')
      cluster.querySelector('summary').click()
      splits[0].click()
      cluster.querySelector('[data-act=confirm]').click()
      return splits.length
    })()`)
    expect(await page.read('document.querySelector(".savebar").checkVisibility()')).toBe(true)
    await page.read('document.getElementById("save").click()')
    // A record that is split off is apart from each other one, and a chain joins the rest.
    const counted = kept.length + (size - 1) + Math.max(0, size - 2)
    const findSaved = () =>
      readdirSync(page.downloads)
        .filter((name) => /^decisions.*csv$/.test(name))
        .map((name) => path.join(page.downloads, name))
        .find((file) => readFileSync(file, 'utf8').match(/,(?:confirm|reject)\n/g)?.length === counted)
    await vi.waitFor(() => expect(findSaved()).toBeDefined(), 20_000)
    const run = await runJsonCommand([...resolve('decided-again'), '--decisions', findSaved() ?? ''])
    // The cluster may have the pair that was confirmed before.
    expect(run.decisions.overruled).toEqual([])
    expect([counted - 1, counted]).toContain(run.decisions.counted)
    expect(page.complaints).toEqual([])
  })

  afterAll(async () => await page?.close())
})
