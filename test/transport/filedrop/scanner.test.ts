// The operator's scanner has the last word before a message is applied; in doubt nothing comes in, and nothing is lost.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { canonical } from '../../../daemon/kernel/canonical.ts'
import { drop, forge } from './forged.ts'
import { incomingOf, labelFor, quarantineOf, restart, startReceiving, twoSites, type World } from './two-sites.ts'

let world: World
let script: string
beforeEach(async () => {
  world = await twoSites()
  script = join(world.dir, 'scan it')
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const folders = () => incomingOf(world.bravo, 'alpha')
const logged = () => JSON.stringify(world.bravo.events)

function says(...lines: string[]): void {
  fs.writeFileSync(script, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o700 })
}

async function scanning(command: readonly string[] = [script], timeout_s = 30) {
  await restart(world.bravo, undefined, { scanner: { command: [...command], timeout_s } })
}

async function put(seq = 1, data: object = { seq }) {
  const body = canonical({ label: labelFor(world.bravo.tenant_id), schema: 'test.v1', data })
  const forged = await forge(world, { seq, body })
  drop(world, forged)
  await world.bravo.transport.rescan()
  return forged
}

test('clean: it is applied; the command gets its own arguments, then the path, no shell and no environment', async () => {
  const note = join(world.dir, 'note')
  says(`env > "${note}"`, `for each in "$@"; do echo "[$each]" >> "${note}"; done`)
  await scanning([script, '--policy', '$(touch hacked); a b'])
  const { stem } = await put()
  expect(world.bravo.received).toHaveLength(1)
  const seen = fs.readFileSync(note, 'utf8')
  expect(seen).toContain(`[--policy]\n[$(touch hacked); a b]\n[${join(folders().work, `${stem}.body.json`)}]`)
  const names = seen.split('\n').flatMap((line) => /^([A-Za-z_]\w*)=/.exec(line)?.[1] ?? [])
  // What a shell sets for itself.
  expect(names.filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name))).toEqual(['PATH'])
})

test('refused: SCANNER, with its number accounted for, and none of what the command printed kept or logged', async () => {
  says('cat "$1"', 'echo found it in "$1" >&2', 'exit 1')
  await scanning()
  await put(1, { text: 'words of the body' })
  expect(quarantineOf(world.bravo, 'alpha')).toMatchObject([{ reason: 'SCANNER', detail: 'the scanner refused it' }])
  expect(world.bravo.received).toEqual([])
  expect((await world.bravo.transport.status())[1]).toMatchObject({ gaps: 0, next_seq: 2 })
  expect(logged()).not.toContain('words of the body')
  expect(logged()).not.toContain('found it')
})

test.each<[string, () => string[], RegExp]>([
  ['an exit code that means nothing', () => ['exit 2'], /exit code 2/],
  ['a crash', () => ['kill -SEGV $$'], /ended by SIGSEGV/],
  ['no end', () => ['sleep 600'], /did not end within 1 s/],
])('%s: intake pauses and says why, and goes on when that is mended', async (_, lines, why) => {
  says(...lines())
  await scanning([script], 1)
  await put()
  await put(5)
  for (let i = 0; i < 4; i++) await world.bravo.transport.rescan()
  expect([world.bravo.received, quarantineOf(world.bravo, 'alpha')]).toEqual([[], []])
  expect((await world.bravo.transport.health()).detail).toMatch(why)
  says('exit 0')
  await scanning()
  expect(world.bravo.received.map(({ statement }) => statement.seq)).toEqual([1, 5])
  expect(await world.bravo.transport.health()).toMatchObject({ ok: true })
})

test('a command that is not there, or may not run, is no clean message', async () => {
  await scanning(['/nowhere/scanner'])
  await put()
  expect((await world.bravo.transport.health()).detail).toContain('cannot be started (ENOENT)')
  fs.writeFileSync(script, '#!/bin/sh\n', { mode: 0o600 })
  await scanning()
  expect((await world.bravo.transport.health()).detail).toContain('cannot be started (EACCES)')
  expect(world.bravo.received).toEqual([])
  expect(fs.readdirSync(folders().work)).toHaveLength(2)
})

test('what a late scanner started ends with it', async () => {
  const pids = join(world.dir, 'pids')
  says(`sleep 600 & echo $! > "${pids}"`, 'wait')
  await scanning([script], 1)
  await put()
  const pid = Number(fs.readFileSync(pids, 'utf8'))
  await vi.waitFor(() => expect(stateOf(pid)).toMatch(/^(gone|Z)$/), 60_000)
})

/** A process that has ended may wait for its parent to notice. */
function stateOf(pid: number): string {
  try {
    return /\) (\S)/.exec(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? 'gone'
  } catch {
    return 'gone'
  }
}

test('of many messages that come at once no more than two are scanned at a time, and each of them is', async () => {
  const [count, most] = [join(world.dir, 'now'), join(world.dir, 'most')]
  fs.mkdirSync(count)
  says(`touch "${count}/$$"`, `ls "${count}" | wc -l >> "${most}"`, `rm "${count}/$$"`)
  await scanning()
  let prev = '0'.repeat(96)
  for (let seq = 1; seq <= 24; seq++) {
    const forged = await forge(world, { seq, statement: { prev } })
    prev = forged.digest
    drop(world, forged)
  }
  await world.bravo.transport.rescan()
  const seen = fs.readFileSync(most, 'utf8').trim().split('\n').map(Number)
  expect([world.bravo.received.length, seen.length]).toEqual([24, 24])
  expect(Math.max(...seen)).toBeLessThanOrEqual(2)
})

test('the bytes that are scanned are those that are applied, whatever the carrier still holds open', async () => {
  const seen = join(world.dir, 'seen')
  says(`cat "$1" > "${seen}"`)
  await scanning()
  const forged = await forge(world)
  drop(world, forged)
  const held = fs.openSync(join(folders().fresh, `${forged.stem}.body.json`), 'r+')
  await world.bravo.transport.rescan()
  fs.writeSync(held, 'BENIGN', 0)
  fs.closeSync(held)
  expect(fs.readFileSync(seen, 'utf8')).toBe(forged.body)
  expect(fs.readFileSync(join(folders().done, `${forged.stem}.body.json`), 'utf8')).toBe(forged.body)
  expect(fs.readdirSync(folders().tmp)).toEqual([])
})

test('a command that is no absolute path is refused before anything runs', async () => {
  for (const command of [[], ['scanner'], ['']]) await expect(scanning(command)).rejects.toThrow()
})
