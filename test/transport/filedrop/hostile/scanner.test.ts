// The operator's scanner has the last word before a message is applied; in doubt nothing comes in, and nothing is lost.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { scanLimits } from '../../../../adapters/platform/body-scanner/body-scanner.ts'
import { openSandbox } from '../../../../adapters/sandbox/linux/open-sandbox.ts'
import { canonicalJson } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import type { Sandbox } from '../../../../daemon/kernel/sandbox/sandbox.ts'
import { scannerSettings } from '../../../../daemon/shared/body-scanner/scanner-settings.ts'
import { readFolders } from '../../../support/filedrop/filedrop-readers.ts'
import {
  buildLabel,
  type FiledropSites,
  listNumbers,
  listQuarantineReasons,
  restartSite,
} from '../../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../../support/filedrop/filedrop-test.ts'
import { dropMessage, forgeMessage } from '../../../support/filedrop/forge-message.ts'

const test = filedropTest.extend({ options: { receiving: ['bravo'] } })
const sandbox = await openSandbox(scanLimits(scannerSettings.parse({ command: ['/bin/true'] })))
/** Every user may read it: a sandbox gives up the rights of root. */
let dir: string
let script: string
test.beforeEach(() => {
  dir = fs.mkdtempSync(join(tmpdir(), 'scanner-'))
  fs.chmodSync(dir, 0o755)
  script = join(dir, 'scan it')
})
test.afterEach(() => {
  fs.rmSync(dir, { recursive: true, force: true })
})

/** Lets the trial body pass, as every scanner must, in a script whose last argument is the body. */
const passTrial = 'for last; do :; done; case "$last" in */00000000-*) exit 0;; esac'

const readLog = (sites: FiledropSites) => JSON.stringify(sites.bravo.events)

function writeScanner(...lines: string[]): void {
  fs.writeFileSync(script, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 })
}

async function restartWithScanner(sites: FiledropSites, command: readonly string[] = [script], timeout_s = 60) {
  await restartSite(sites.bravo, undefined, { scanner: { command: [...command], timeout_s } }, { sandbox })
}

async function dropForged(sites: FiledropSites, seq = 1, data: object = { seq }) {
  const body = canonicalJson({ label: buildLabel(sites.bravo.tenant_id), schema: 'test.v1', data })
  const forged = await forgeMessage(sites, { seq, body })
  dropMessage(sites, forged)
  await sites.bravo.transport.rescan()
  return forged
}

test('clean: it is applied; the command gets its own arguments, then the path, no shell and no environment', async ({
  sites,
}) => {
  writeScanner(
    passTrial,
    '[ $# = 3 ] && [ "$1" = --policy ] && [ "$2" = \'$(touch hacked); a b\' ] || exit 2',
    `[ "$(basename "$3")" = 00000001-0000000000000001.body.json ] && grep -q 'test.v1' "$3" || exit 3`,
    // Variables that a shell sets by itself, and those of every sandbox.
    "env | grep -vE '^(PWD|SHLVL|_|OLDPWD|PATH|HOME|TMPDIR|LANG)=' && exit 4",
    'exit 0',
  )
  await restartWithScanner(sites, [script, '--policy', '$(touch hacked); a b'])
  await dropForged(sites)
  expect((await sites.bravo.transport.health()).detail).toBe('')
  expect(sites.bravo.received).toHaveLength(1)
})

test('it reads the body and what the settings show it, and nothing else of the site', async ({ sites, skip }) => {
  if (sandbox.isolation !== 'namespaces') skip(sandbox.shortfalls.join('; '))
  const rules = join(dir, 'rules')
  fs.writeFileSync(rules, 'no vessels')
  const keys = join(sites.bravo.root, '..', 'keys')
  writeScanner(`ls '${keys}' '${sites.bravo.root}' 2>/dev/null && exit 2`, `grep -q vessels '${rules}' || exit 3`)
  const scanner = { command: [script], visible: [rules] }
  await restartSite(sites.bravo, undefined, { scanner }, { sandbox })
  await dropForged(sites)
  expect((await sites.bravo.transport.health()).detail).toBe('')
  expect(sites.bravo.received).toHaveLength(1)
})

test('refused: SCANNER, with its number accounted for, and none of the command’s output stored or logged', async ({
  sites,
}) => {
  writeScanner('cat "$1"', 'grep -q "words of" "$1" || exit 0', 'echo found it in "$1" >&2', 'exit 1')
  await restartWithScanner(sites)
  await dropForged(sites, 1, { text: 'words of the body' })
  expect(listQuarantineReasons(sites.bravo, 'alpha')).toMatchObject([
    { reason: 'SCANNER', detail: 'the scanner refused it' },
  ])
  expect(sites.bravo.received).toEqual([])
  expect((await sites.bravo.transport.status())[1]).toMatchObject({ gaps: 0, next_seq: 2 })
  expect(readLog(sites)).not.toContain('words of the body')
  expect(readLog(sites)).not.toContain('found it')
})

test.for<[string, () => string[], RegExp]>([
  ['an exit code that means nothing', () => ['exit 2'], /exit code 2/],
  ['a crash', () => ['kill -SEGV $$'], /ended by SIGSEGV/],
  ['no end', () => ['sleep 600'], /did not end within 3 s/],
])('%s: intake pauses with the reason, and goes on after the repair', async ([_, lines, why], { sites }) => {
  writeScanner(...lines())
  await restartWithScanner(sites, [script], 3)
  await dropForged(sites)
  await dropForged(sites, 5)
  for (let i = 0; i < 4; i++) await sites.bravo.transport.rescan()
  expect([sites.bravo.received, listQuarantineReasons(sites.bravo, 'alpha')]).toEqual([[], []])
  expect((await sites.bravo.transport.health()).detail).toMatch(why)
  writeScanner('exit 0')
  await restartWithScanner(sites)
  expect(listNumbers(sites.bravo.received)).toEqual([1, 5])
  expect(await sites.bravo.transport.health()).toMatchObject({ ok: true })
})

test('a command that is absent, or may not run, does not pass a message', async ({ sites }) => {
  await restartWithScanner(sites, ['/nowhere/scanner'])
  await dropForged(sites)
  expect((await sites.bravo.transport.health()).detail).toContain('cannot be started (ENOENT)')
  fs.writeFileSync(script, '#!/bin/sh\n', { mode: 0o600 })
  await restartWithScanner(sites)
  expect((await sites.bravo.transport.health()).detail).toContain('cannot be started (EACCES)')
  expect(sites.bravo.received).toEqual([])
  expect(fs.readdirSync(readFolders(sites).fresh)).toHaveLength(2)
})

test('a scanner that refuses a clean body pauses intake at the start, with its output, and goes on after the repair', async ({
  sites,
}) => {
  writeScanner('echo "no module named rules" >&2', 'exit 1')
  await restartWithScanner(sites)
  await sites.bravo.transport.rescan()
  const paused = 'intake pauses: the scanner refuses a clean body (exit code 1): no module named rules'
  expect((await sites.bravo.transport.health()).detail).toContain(paused)
  await dropForged(sites)
  expect([sites.bravo.received, listQuarantineReasons(sites.bravo, 'alpha')]).toEqual([[], []])
  writeScanner('exit 0')
  await sites.bravo.transport.rescan()
  expect(sites.bravo.received).toHaveLength(1)
  expect(await sites.bravo.transport.health()).toMatchObject({ ok: true })
})

test('a scanner that breaks while the site runs pauses intake: a failure is not taken for a refusal', async ({
  sites,
}) => {
  writeScanner('exit 0')
  await restartWithScanner(sites)
  await sites.bravo.transport.rescan()
  writeScanner('echo broken; exit 1')
  await dropForged(sites)
  expect([sites.bravo.received, listQuarantineReasons(sites.bravo, 'alpha')]).toEqual([[], []])
  expect((await sites.bravo.transport.health()).detail).toContain('refuses a clean body (exit code 1): broken')
  writeScanner('exit 0')
  await sites.bravo.transport.rescan()
  expect(sites.bravo.received).toHaveLength(1)
})

test('of many messages that come at once no more than two are scanned at a time, and each of them is', async ({
  sites,
}) => {
  writeScanner('exit 0')
  const running: number[] = []
  let [count, scanned] = [0, 0]
  const counting: Sandbox = {
    ...sandbox,
    async run(command) {
      count += 1
      running.push(count)
      const result = await sandbox.run(command)
      count -= 1
      scanned += 1
      return result
    },
  }
  await restartSite(sites.bravo, undefined, { scanner: { command: [script] } }, { sandbox: counting })
  let prev = '0'.repeat(96)
  for (let seq = 1; seq <= 24; seq++) {
    const forged = await forgeMessage(sites, { seq, statement: { prev } })
    prev = forged.digest
    dropMessage(sites, forged)
  }
  await sites.bravo.transport.rescan()
  // The trial body as well.
  expect([sites.bravo.received.length, scanned]).toEqual([24, 25])
  expect(Math.max(...running)).toBeLessThanOrEqual(2)
})

test('the scanned bytes are the applied ones, though the carrier still holds the file open', async ({ sites }) => {
  const forged = await forgeMessage(sites)
  const digest = createHash('sha256').update(forged.body).digest('hex')
  writeScanner(passTrial, `[ "$(sha256sum <"$1")" = '${digest}  -' ] || exit 2`)
  await restartWithScanner(sites)
  dropMessage(sites, forged)
  const held = fs.openSync(join(readFolders(sites).fresh, `${forged.stem}.body.json`), 'r+')
  await sites.bravo.transport.rescan()
  fs.writeSync(held, 'BENIGN', 0)
  fs.closeSync(held)
  expect(sites.bravo.received).toHaveLength(1)
  expect(fs.readFileSync(join(readFolders(sites).done, `${forged.stem}.body.json`), 'utf8')).toBe(forged.body)
  expect(fs.readdirSync(readFolders(sites).tmp)).toEqual([])
})

test('memory beyond its limit pauses intake', async ({ sites }) => {
  writeScanner(`${'perl -e \'$x = "x" x 40000000; sleep 100\' & '.repeat(5)} wait`)
  await restartSite(sites.bravo, undefined, { scanner: { command: [script], memory_mb: 128 } }, { sandbox })
  await dropForged(sites)
  expect((await sites.bravo.transport.health()).detail).toContain('used more than 128 MiB')
  expect(sites.bravo.received).toEqual([])
})

test('refuses a command without an absolute path before anything runs', async ({ sites }) => {
  for (const command of [[], ['scanner'], ['']]) await expect(restartWithScanner(sites, command)).rejects.toThrow()
})
