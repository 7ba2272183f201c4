// By the system calls of the released executable: nothing is published, or done with, before the disk has what it rests on.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect } from 'vitest'
import { statement } from '../../daemon/kernel/messaging/statement.ts'
import {
  findBrokenLink,
  matchCreate,
  matchJournalWrite,
  matchRename,
  matchSync,
  matchWrite,
  parseCalls,
  type SystemCall,
} from '../store/system-calls.ts'
import { requires } from '../support/runner/requires.ts'
import { type CourierParcel, deliverParcels } from '../support/site/courier.ts'
import type { FederatedSite } from '../support/site/packaged-federation.ts'
import {
  answerInvitation,
  createPackagedSitePair,
  type PackagedSitePair,
  waitForState,
} from '../support/site/packaged-site-pair.ts'
import { waitUntil } from '../support/site/test-site.ts'

let two: PackagedSitePair
beforeEach(async () => {
  two = await createPackagedSitePair()
})
afterEach(() => two?.world.end())

/** Its system calls until its stop. Whole pages are traced, to see which write is about a message. */
async function startTraced(site: FederatedSite): Promise<() => Promise<SystemCall[]>> {
  const file = path.join(two.world.dir, `${site.name}.strace`)
  const names = ['openat', 'write', 'pwrite64', 'fsync', 'fdatasync', '?rename', '?renameat', '?renameat2']
  const options = ['-f', '-D', '--seccomp-bpf', '-y', '-s', '4096', '-e', `trace=${names.join(',')}`, '-o', file]
  const daemon = await site.startUnder(['strace', ...options])
  return async () => {
    await daemon.stop()
    const end = new RegExp(`^${daemon.pid} +\\+\\+\\+ exited with 0 `, 'm')
    return parseCalls(await waitUntil(() => [fs.readFileSync(file, 'utf8')].find((text) => end.test(text))))
  }
}

const listFileNames = ({ stem }: CourierParcel) => [`/${stem}.body.json`, `/${stem}.env.json`]
const buildRenames = (parcel: CourierParcel, from: string, to: string) =>
  listFileNames(parcel).map((name) => matchRename(`${from}${name}`, `${to}${name}`))

/** The journal's entry of a message: its id, and the digest of its statement. */
function parseEntry({ env }: CourierParcel): { msg_id: string; digest: string } {
  const payload = Buffer.from(JSON.parse(env.toString('utf8')).payload, 'base64url')
  const { msg_id } = statement.parse(JSON.parse(payload.toString('utf8')))
  return { msg_id, digest: createHash('sha384').update(payload).digest('hex') }
}

requires('strace')('sent: the journal first, then each file whole and durable before it has its name', async () => {
  await two.alpha.start()
  const callsOfBravo = await startTraced(two.bravo)
  const { parcel } = await answerInvitation(two)
  const calls = await callsOfBravo()
  const named = buildRenames(parcel, 'out/tmp', 'out/ready')
  const published = listFileNames(parcel).flatMap((name, at) => [
    ...[matchCreate(`out/tmp${name}`), matchWrite(`out/tmp${name}`), matchSync(`out/tmp${name}`)],
    ...named.slice(at, at + 1),
  ])
  const entered = [matchJournalWrite('site', parseEntry(parcel).msg_id), matchSync('/site.db-wal')]
  expect(findBrokenLink(calls, [...entered, ...published, matchSync('out/ready')])).toBe(undefined)
  for (const { what, matches } of named) expect([what, calls.filter(matches).length]).toEqual([what, 1])
})

requires('strace')('received: acted upon and applied, each durably, before its files are done with', async () => {
  const callsOfAlpha = await startTraced(two.alpha)
  await two.bravo.start()
  const { id, parcel } = await answerInvitation(two)
  deliverParcels(two.toAlpha, [parcel])
  await waitForState(two.atAlpha, id, 'RATIFIED')
  const calls = await callsOfAlpha()
  const { msg_id, digest } = parseEntry(parcel)
  const order = [
    ...buildRenames(parcel, 'in/new', 'in/work'),
    ...[matchJournalWrite('site', digest), matchSync('/site.db-wal')],
    ...[matchJournalWrite('consensus', msg_id), matchSync('/consensus.db-wal')],
    ...[matchJournalWrite('site', 'filedrop.message.applied', msg_id), matchSync('/site.db-wal')],
    ...buildRenames(parcel, 'in/work', 'in/done'),
  ]
  expect(findBrokenLink(calls, order)).toBe(undefined)
  for (const { what, matches } of buildRenames(parcel, 'in/work', 'in/done')) {
    expect([what, calls.filter(matches).length]).toEqual([what, 1])
  }
})
