// Two packaged sites whose messages go over HTTPS with client certificates, set up by commands as operators would; then killed.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { everyOperation } from '../../daemon/every-role.ts'
import { list as recordOf } from '../../daemon/roles/consensus/contribution/list.ts'
import { freePorts } from '../support/engines/server-process.ts'
import type { Daemon, PackagedSite } from '../support/packaged-sites.ts'
import { until } from '../support/site-world.ts'
import { soundRecord } from './deaths.ts'
import { askedWhileKilled } from './killing.ts'
import { ask, channelOf, delivered, inState, say, seen, type Two, twoSites } from './question.ts'

const seed = Number(process.env.KILL_SEED ?? 20)
const kills = 4
const questions = 15

const ofSite = (path: string) => {
  const found = everyOperation.find(({ role, operation }) => role === 'site' && operation.path === path)
  if (!found) throw new Error(`the site serves no ${path}`)
  return found.operation
}

let two: Two
const daemons = new Map<PackagedSite, Daemon>()
const ports = new Map<PackagedSite, number>()

beforeAll(async () => {
  two = await twoSites()
  const both = [two.alpha, two.bravo]
  const free = await freePorts(2)
  for (const [at, site] of both.entries()) ports.set(site, free[at] ?? 0)
  for (const site of both) {
    await site.answered(['keys', 'ca', 'init'])
    await site.answered(['keys', 'cert', 'issue'])
    await site.answered(['keys', 'ca', 'show', '--out', authorityOf(site)])
  }
  for (const site of both) pinOver(site, site === two.alpha ? two.bravo : two.alpha)
  for (const site of both) daemons.set(site, await site.start())
})
afterAll(() => two?.world.end())

const authorityOf = (site: PackagedSite) => path.join(two.world.dir, `${site.name}-ca.pem`)

function pinOver(site: PackagedSite, peer: PackagedSite): void {
  const pin = `{ url: "https://127.0.0.1:${ports.get(peer)}", ca_file: "${authorityOf(peer)}" }`
  const block = `\nmtls:\n  port: ${ports.get(site)}\n  peers:\n    ${peer.name}: ${pin}\n`
  fs.appendFileSync(path.join(site.dir, 'profile.yaml'), block)
}

/** One session from its opening to the end at both sites. */
async function ratified(): Promise<string> {
  const { atAlpha, atBravo } = two
  const id = await ask(atAlpha, 0.94)
  await until(() => seen(atBravo, id))
  await say(atBravo, id, 'bob', 0.92)
  await inState(atAlpha, id, 'RATIFIED')
  const [home, copy] = [await delivered(atAlpha, id), await inState(atBravo, id, 'RATIFIED')]
  expect(copy.evidence_block_id).toBe(home.evidence_block_id)
  return id
}

test('a session is ratified while no courier comes, and both say by what messages go', async () => {
  await ratified()
  for (const [person, peer] of [
    [two.atAlpha, 'bravo'],
    [two.atBravo, 'alpha'],
  ] as const) {
    expect(await channelOf(person, peer, 'out')).toMatchObject({ transport: 'mtls' })
  }
  for (const person of [two.atAlpha, two.atBravo]) {
    expect(await person.ok(ofSite('/service-info'), {})).toMatchObject({ supported_transports: ['filedrop', 'mtls'] })
    expect(await person.ok(ofSite('/health'), {})).toMatchObject({ status: 'ok' })
  }
  const { stdout } = await two.alpha.platform(['doctor'])
  expect(stdout).toMatch(/^ok +mtls +bravo answers$/m)
  expect(stdout).toContain(`site runs, and has 127.0.0.1:${ports.get(two.alpha)}`)
})

test('a certificate that is renewed while both run is the one that the next peer sees, and nothing stops', async () => {
  const before = await two.bravo.answered(['keys', 'cert', 'show'])
  const after = await two.bravo.answered(['keys', 'cert', 'renew'])
  expect(after.key).not.toBe(before.key)
  await until(() => daemons.get(two.bravo)?.log().includes('mtls.files.changed'))
  await ratified()
})

test('either is killed in the middle of it: nothing is lost, and nothing happens twice', async () => {
  const before = (await channelOf(two.atAlpha, 'bravo', 'out')).sent ?? 0
  const { ids, killed } = await askedWhileKilled({ two, daemons, questions, kills, seed })
  expect([killed, new Set(ids).size]).toEqual([kills, questions])
  const { atAlpha, atBravo } = two
  for (const id of ids) {
    const [home, copy] = [await inState(atAlpha, id, 'RATIFIED'), await inState(atBravo, id, 'RATIFIED')]
    expect([home.contributions, copy.contributions, home.undelivered, copy.undelivered]).toEqual([2, 1, 0, 0])
    expect(copy.evidence_block_id).toBe(home.evidence_block_id)
    const { items } = await atAlpha.ok(recordOf, { id })
    expect(items.map(({ contributor_id }) => contributor_id)).toEqual(['alice', 'bravo'])
  }
  const sent = before + 2 * questions
  expect(await channelOf(atAlpha, 'bravo', 'out')).toMatchObject({ sent, highest_seq: sent, state: 'open' })
  const arrived = await until(async () => {
    const channel = await channelOf(atBravo, 'alpha', 'in')
    return channel.backlog === 0 && channel.received === sent && channel
  })
  expect(arrived).toMatchObject({ highest_seq: sent, gaps: 0, quarantined: 0, state: 'open' })
  for (const site of [two.alpha, two.bravo]) await soundRecord(site)
})

test('a certificate of another authority is believed once that is pinned, and what was sent meanwhile waits', async () => {
  const { alpha, bravo, atAlpha, atBravo } = two
  await bravo.answered(['keys', 'ca', 'init', '--replace'])
  const changes = () => daemons.get(bravo)?.log().split('mtls.files.changed').length ?? 0
  const before = changes()
  await bravo.answered(['keys', 'cert', 'renew'])
  await until(() => changes() > before)
  const id = await ask(atAlpha, 0.94)
  await until(() => /bravo cannot be reached: [^"]*certificate/.test(daemons.get(alpha)?.log() ?? ''))
  expect((await channelOf(atAlpha, 'bravo', 'out')).backlog).toBeGreaterThan(0)
  // The daemon reads the file of pins again when it changes, as it does its own.
  const both = path.join(two.world.dir, 'both.pem')
  await bravo.answered(['keys', 'ca', 'show', '--out', both])
  fs.copyFileSync(both, authorityOf(bravo))
  await until(() => seen(atBravo, id))
})
