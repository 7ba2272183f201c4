// The operator's scanner has the last word before a message is applied; in doubt nothing comes in, and nothing is lost.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { canonicalJson } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import { readFolders } from '../../../support/filedrop/filedrop-readers.ts'
import {
  buildLabel,
  type FiledropSites,
  listQuarantineReasons,
  restartSite,
} from '../../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../../support/filedrop/filedrop-test.ts'
import { dropMessage, forgeMessage } from '../../../support/filedrop/forge-message.ts'

const test = filedropTest.extend({ options: { receiving: ['bravo'] } })
let script: string
test.beforeEach(async ({ sites }) => {
  script = join(sites.dir, 'scan it')
})

const readLog = (sites: FiledropSites) => JSON.stringify(sites.bravo.events)

function writeScanner(...lines: string[]): void {
  fs.writeFileSync(script, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o700 })
}

async function restartWithScanner(sites: FiledropSites, command: readonly string[] = [script], timeout_s = 30) {
  await restartSite(sites.bravo, undefined, { scanner: { command: [...command], timeout_s } })
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
  const note = join(sites.dir, 'note')
  writeScanner(`env > "${note}"`, `for each in "$@"; do echo "[$each]" >> "${note}"; done`)
  await restartWithScanner(sites, [script, '--policy', '$(touch hacked); a b'])
  const { stem } = await dropForged(sites)
  expect(sites.bravo.received).toHaveLength(1)
  const seen = fs.readFileSync(note, 'utf8')
  expect(seen).toContain(`[--policy]\n[$(touch hacked); a b]\n[${join(readFolders(sites).work, `${stem}.body.json`)}]`)
  const names = seen.split('\n').flatMap((line) => /^([A-Za-z_]\w*)=/.exec(line)?.[1] ?? [])
  // Variables that a shell sets by itself.
  expect(names.filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name))).toEqual(['PATH'])
})

test('refused: SCANNER, with its number accounted for, and none of the command’s output stored or logged', async ({
  sites,
}) => {
  writeScanner('cat "$1"', 'echo found it in "$1" >&2', 'exit 1')
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
  ['no end', () => ['sleep 600'], /did not end within 1 s/],
])('%s: intake pauses with the reason, and goes on after the repair', async ([_, lines, why], { sites }) => {
  writeScanner(...lines())
  await restartWithScanner(sites, [script], 1)
  await dropForged(sites)
  await dropForged(sites, 5)
  for (let i = 0; i < 4; i++) await sites.bravo.transport.rescan()
  expect([sites.bravo.received, listQuarantineReasons(sites.bravo, 'alpha')]).toEqual([[], []])
  expect((await sites.bravo.transport.health()).detail).toMatch(why)
  writeScanner('exit 0')
  await restartWithScanner(sites)
  expect(sites.bravo.received.map(({ statement }) => statement.seq)).toEqual([1, 5])
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
  expect(fs.readdirSync(readFolders(sites).work)).toHaveLength(2)
})

test('processes that a late scanner started end with it', async ({ sites }) => {
  const pids = join(sites.dir, 'pids')
  writeScanner(`sleep 600 & echo $! > "${pids}"`, 'wait')
  await restartWithScanner(sites, [script], 1)
  await dropForged(sites)
  const pid = Number(fs.readFileSync(pids, 'utf8'))
  await vi.waitFor(() => expect(readProcessState(pid)).toMatch(/^(gone|Z)$/), 60_000)
})

/** A process that has ended may wait for its parent to notice. */
function readProcessState(pid: number): string {
  try {
    return /\) (\S)/.exec(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? 'gone'
  } catch {
    return 'gone'
  }
}

test('of many messages that come at once no more than two are scanned at a time, and each of them is', async ({
  sites,
}) => {
  const [count, most] = [join(sites.dir, 'now'), join(sites.dir, 'most')]
  fs.mkdirSync(count)
  writeScanner(`touch "${count}/$$"`, `ls "${count}" | wc -l >> "${most}"`, `rm "${count}/$$"`)
  await restartWithScanner(sites)
  let prev = '0'.repeat(96)
  for (let seq = 1; seq <= 24; seq++) {
    const forged = await forgeMessage(sites, { seq, statement: { prev } })
    prev = forged.digest
    dropMessage(sites, forged)
  }
  await sites.bravo.transport.rescan()
  const seen = fs.readFileSync(most, 'utf8').trim().split('\n').map(Number)
  expect([sites.bravo.received.length, seen.length]).toEqual([24, 24])
  expect(Math.max(...seen)).toBeLessThanOrEqual(2)
})

test('the scanned bytes are the applied ones, though the carrier still holds the file open', async ({ sites }) => {
  const seen = join(sites.dir, 'seen')
  writeScanner(`cat "$1" > "${seen}"`)
  await restartWithScanner(sites)
  const forged = await forgeMessage(sites)
  dropMessage(sites, forged)
  const held = fs.openSync(join(readFolders(sites).fresh, `${forged.stem}.body.json`), 'r+')
  await sites.bravo.transport.rescan()
  fs.writeSync(held, 'BENIGN', 0)
  fs.closeSync(held)
  expect(fs.readFileSync(seen, 'utf8')).toBe(forged.body)
  expect(fs.readFileSync(join(readFolders(sites).done, `${forged.stem}.body.json`), 'utf8')).toBe(forged.body)
  expect(fs.readdirSync(readFolders(sites).tmp)).toEqual([])
})

test('refuses a command without an absolute path before anything runs', async ({ sites }) => {
  for (const command of [[], ['scanner'], ['']]) await expect(restartWithScanner(sites, command)).rejects.toThrow()
})
