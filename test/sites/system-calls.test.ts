// By the system calls of the released executable: nothing is published, or done with, before the disk has what it rests on.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect } from 'vitest'
import { statement } from '../../daemon/kernel/transport.ts'
import { brokenLink, type Call, callsOf, creates, logs, renames, syncs, writes } from '../store/system-calls.ts'
import type { PackagedSite } from '../support/packaged-sites.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/site-world.ts'
import { bring, type Parcel } from './courier.ts'
import { inState, spoken, type Two, twoSites } from './question.ts'

let two: Two
beforeEach(async () => {
  two = await twoSites()
})
afterEach(() => two?.world.end())

/** What it did until it was stopped. Whole pages are told, so that it can be seen which write is about a message. */
async function startTraced(site: PackagedSite): Promise<() => Promise<Call[]>> {
  const file = path.join(two.world.dir, `${site.name}.strace`)
  const names = ['openat', 'write', 'pwrite64', 'fsync', 'fdatasync', '?rename', '?renameat', '?renameat2']
  const told = ['-f', '-D', '--seccomp-bpf', '-y', '-s', '4096', '-e', `trace=${names.join(',')}`, '-o', file]
  const daemon = await site.startUnder(['strace', ...told])
  return async () => {
    await daemon.stop()
    const end = new RegExp(`^${daemon.pid} +\\+\\+\\+ exited with 0 `, 'm')
    return callsOf(await until(() => [fs.readFileSync(file, 'utf8')].find((text) => end.test(text))))
  }
}

const filesOf = ({ stem }: Parcel) => [`/${stem}.body.json`, `/${stem}.env.json`]
const moved = (parcel: Parcel, from: string, to: string) =>
  filesOf(parcel).map((name) => renames(`${from}${name}`, `${to}${name}`))

/** What the journal holds of a message: its id, and the digest of its statement. */
function entryOf({ env }: Parcel): { msg_id: string; digest: string } {
  const payload = Buffer.from(JSON.parse(env.toString('utf8')).payload, 'base64url')
  const { msg_id } = statement.parse(JSON.parse(payload.toString('utf8')))
  return { msg_id, digest: createHash('sha384').update(payload).digest('hex') }
}

requires('strace')('sent: the journal first, then each file whole and durable before it has its name', async () => {
  await two.alpha.start()
  const callsOfBravo = await startTraced(two.bravo)
  const { parcel } = await spoken(two)
  const calls = await callsOfBravo()
  const named = moved(parcel, 'out/tmp', 'out/ready')
  const published = filesOf(parcel).flatMap((name, at) => [
    ...[creates(`out/tmp${name}`), writes(`out/tmp${name}`), syncs(`out/tmp${name}`)],
    ...named.slice(at, at + 1),
  ])
  const entered = [logs('site', entryOf(parcel).msg_id), syncs('/site.db-wal')]
  expect(brokenLink(calls, [...entered, ...published, syncs('out/ready')])).toBe(undefined)
  for (const { what, is } of named) expect([what, calls.filter(is).length]).toEqual([what, 1])
})

requires('strace')('received: acted upon and applied, each durably, before its files are done with', async () => {
  const callsOfAlpha = await startTraced(two.alpha)
  await two.bravo.start()
  const { id, parcel } = await spoken(two)
  bring(two.back, [parcel])
  await inState(two.atAlpha, id, 'RATIFIED')
  const calls = await callsOfAlpha()
  const { msg_id, digest } = entryOf(parcel)
  const order = [
    ...moved(parcel, 'in/new', 'in/work'),
    ...[logs('site', digest), syncs('/site.db-wal')],
    ...[logs('consensus', msg_id), syncs('/consensus.db-wal')],
    ...[logs('site', 'filedrop.message.applied', msg_id), syncs('/site.db-wal')],
    ...moved(parcel, 'in/work', 'in/done'),
  ]
  expect(brokenLink(calls, order)).toBe(undefined)
  for (const { what, is } of moved(parcel, 'in/work', 'in/done')) {
    expect([what, calls.filter(is).length]).toEqual([what, 1])
  }
})
