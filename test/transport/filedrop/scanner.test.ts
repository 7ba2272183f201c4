// The operator's scanner has the last word before a message is applied; in doubt nothing comes in, and nothing is lost.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { canonicalJson } from '../../../daemon/kernel/encoding/canonical-json.ts'
import {
  buildLabel,
  createFiledropSites,
  type FiledropSites,
  listChannelFolders,
  listQuarantineReasons,
  restartSite,
  startReceiving,
} from './filedrop-sites.ts'
import { dropMessage, forgeMessage } from './forge-message.ts'

let world: FiledropSites
let script: string
beforeEach(async () => {
  world = await createFiledropSites()
  script = join(world.dir, 'scan it')
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const readFolders = () => listChannelFolders(world.bravo, 'alpha')
const readLog = () => JSON.stringify(world.bravo.events)

function writeScanner(...lines: string[]): void {
  fs.writeFileSync(script, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o700 })
}

async function restartWithScanner(command: readonly string[] = [script], timeout_s = 30) {
  await restartSite(world.bravo, undefined, { scanner: { command: [...command], timeout_s } })
}

async function dropForged(seq = 1, data: object = { seq }) {
  const body = canonicalJson({ label: buildLabel(world.bravo.tenant_id), schema: 'test.v1', data })
  const forged = await forgeMessage(world, { seq, body })
  dropMessage(world, forged)
  await world.bravo.transport.rescan()
  return forged
}

test('clean: it is applied; the command gets its own arguments, then the path, no shell and no environment', async () => {
  const note = join(world.dir, 'note')
  writeScanner(`env > "${note}"`, `for each in "$@"; do echo "[$each]" >> "${note}"; done`)
  await restartWithScanner([script, '--policy', '$(touch hacked); a b'])
  const { stem } = await dropForged()
  expect(world.bravo.received).toHaveLength(1)
  const seen = fs.readFileSync(note, 'utf8')
  expect(seen).toContain(`[--policy]\n[$(touch hacked); a b]\n[${join(readFolders().work, `${stem}.body.json`)}]`)
  const names = seen.split('\n').flatMap((line) => /^([A-Za-z_]\w*)=/.exec(line)?.[1] ?? [])
  // What a shell sets for itself.
  expect(names.filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name))).toEqual(['PATH'])
})

test('refused: SCANNER, with its number accounted for, and none of what the command printed kept or logged', async () => {
  writeScanner('cat "$1"', 'echo found it in "$1" >&2', 'exit 1')
  await restartWithScanner()
  await dropForged(1, { text: 'words of the body' })
  expect(listQuarantineReasons(world.bravo, 'alpha')).toMatchObject([
    { reason: 'SCANNER', detail: 'the scanner refused it' },
  ])
  expect(world.bravo.received).toEqual([])
  expect((await world.bravo.transport.status())[1]).toMatchObject({ gaps: 0, next_seq: 2 })
  expect(readLog()).not.toContain('words of the body')
  expect(readLog()).not.toContain('found it')
})

test.each<[string, () => string[], RegExp]>([
  ['an exit code that means nothing', () => ['exit 2'], /exit code 2/],
  ['a crash', () => ['kill -SEGV $$'], /ended by SIGSEGV/],
  ['no end', () => ['sleep 600'], /did not end within 1 s/],
])('%s: intake pauses and says why, and goes on when that is mended', async (_, lines, why) => {
  writeScanner(...lines())
  await restartWithScanner([script], 1)
  await dropForged()
  await dropForged(5)
  for (let i = 0; i < 4; i++) await world.bravo.transport.rescan()
  expect([world.bravo.received, listQuarantineReasons(world.bravo, 'alpha')]).toEqual([[], []])
  expect((await world.bravo.transport.health()).detail).toMatch(why)
  writeScanner('exit 0')
  await restartWithScanner()
  expect(world.bravo.received.map(({ statement }) => statement.seq)).toEqual([1, 5])
  expect(await world.bravo.transport.health()).toMatchObject({ ok: true })
})

test('a command that is not there, or may not run, is no clean message', async () => {
  await restartWithScanner(['/nowhere/scanner'])
  await dropForged()
  expect((await world.bravo.transport.health()).detail).toContain('cannot be started (ENOENT)')
  fs.writeFileSync(script, '#!/bin/sh\n', { mode: 0o600 })
  await restartWithScanner()
  expect((await world.bravo.transport.health()).detail).toContain('cannot be started (EACCES)')
  expect(world.bravo.received).toEqual([])
  expect(fs.readdirSync(readFolders().work)).toHaveLength(2)
})

test('what a late scanner started ends with it', async () => {
  const pids = join(world.dir, 'pids')
  writeScanner(`sleep 600 & echo $! > "${pids}"`, 'wait')
  await restartWithScanner([script], 1)
  await dropForged()
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

test('of many messages that come at once no more than two are scanned at a time, and each of them is', async () => {
  const [count, most] = [join(world.dir, 'now'), join(world.dir, 'most')]
  fs.mkdirSync(count)
  writeScanner(`touch "${count}/$$"`, `ls "${count}" | wc -l >> "${most}"`, `rm "${count}/$$"`)
  await restartWithScanner()
  let prev = '0'.repeat(96)
  for (let seq = 1; seq <= 24; seq++) {
    const forged = await forgeMessage(world, { seq, statement: { prev } })
    prev = forged.digest
    dropMessage(world, forged)
  }
  await world.bravo.transport.rescan()
  const seen = fs.readFileSync(most, 'utf8').trim().split('\n').map(Number)
  expect([world.bravo.received.length, seen.length]).toEqual([24, 24])
  expect(Math.max(...seen)).toBeLessThanOrEqual(2)
})

test('the bytes that are scanned are those that are applied, whatever the carrier still holds open', async () => {
  const seen = join(world.dir, 'seen')
  writeScanner(`cat "$1" > "${seen}"`)
  await restartWithScanner()
  const forged = await forgeMessage(world)
  dropMessage(world, forged)
  const held = fs.openSync(join(readFolders().fresh, `${forged.stem}.body.json`), 'r+')
  await world.bravo.transport.rescan()
  fs.writeSync(held, 'BENIGN', 0)
  fs.closeSync(held)
  expect(fs.readFileSync(seen, 'utf8')).toBe(forged.body)
  expect(fs.readFileSync(join(readFolders().done, `${forged.stem}.body.json`), 'utf8')).toBe(forged.body)
  expect(fs.readdirSync(readFolders().tmp)).toEqual([])
})

test('a command that is no absolute path is refused before anything runs', async () => {
  for (const command of [[], ['scanner'], ['']]) await expect(restartWithScanner(command)).rejects.toThrow()
})
