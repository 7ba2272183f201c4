// Two sites whose daemons die at named steps of the carrier and are started again, and what must be true in the end.
import * as fs from 'node:fs'
import { expect } from 'vitest'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { type CourierParcel, formatChannelFolder, listQuarantined } from '../../support/site/courier.ts'
import type { RunningDaemon } from '../../support/site/daemon-process.ts'
import type { FederatedSite } from '../../support/site/packaged-federation.ts'
import {
  answerInvitation,
  carryUntil,
  createPackagedSitePair,
  findSession,
  openSharedSession,
  type PackagedSitePair,
  waitForState,
} from '../../support/site/packaged-site-pair.ts'
import { waitUntil } from '../../support/site/test-site.ts'

export type FaultPointSites = {
  readonly two: PackagedSitePair
  /** Points at which a process has died. */
  readonly triedPoints: Set<string>
  /** Starts the site so that it dies at this point, does what leads there until it has, and starts it anew. */
  dieAt(site: FederatedSite, point: string, act: () => Promise<unknown>, meanwhile?: () => void): Promise<void>
  /** A session that both know, without an opinion of bob yet. */
  openSharedSession(): Promise<string>
  /** The parcel in the courier's bag once bob's opinion is in it. */
  answerInvitation(): Promise<{ readonly id: string; readonly parcel: CourierParcel }>
  /** In the end both have decided, with one opinion of each, and no file lies where it should not. */
  expectAppliedOnce(id: string): Promise<void>
  /** The files in alpha's quarantine that no reason speaks of. */
  listUnexplainedFiles(): string[]
  /** The record is whole, the data sound, and each message applied once. */
  expectSoundRecord(site: FederatedSite): Promise<void>
  end(): Promise<void>
}

/** Both run. */
export async function startFaultPointSites(): Promise<FaultPointSites> {
  const two = await createPackagedSitePair()
  const daemons = new Map<FederatedSite, RunningDaemon>()
  for (const site of [two.alpha, two.bravo]) daemons.set(site, await site.start())
  const tried = new Set<string>()
  return {
    two,
    triedPoints: tried,
    async dieAt(site, point, act, meanwhile = () => undefined) {
      await daemons.get(site)?.stop()
      const doomed = await site.startUntil(point)
      await act().catch(ignoreConnectionFailure)
      await waitUntil(() => {
        meanwhile()
        return doomed.hasEnded()
      })
      expect(doomed.log().trimEnd().split('\n').at(-1)).toBe(`fault point ${point}`)
      daemons.set(site, await site.start())
      tried.add(point.split(':')[0] ?? '')
    },
    openSharedSession: () => openSharedSession(two),
    answerInvitation: () => answerInvitation(two),
    expectAppliedOnce: (id) => expectAppliedOnce(two, id),
    listUnexplainedFiles: () => listUnexplainedFiles(two),
    expectSoundRecord,
    end: () => two.world.end(),
  }
}

/** A refusal is an answer; no connection, or one that broke off, is none. */
function ignoreConnectionFailure(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error
}

async function expectAppliedOnce(two: PackagedSitePair, id: string): Promise<void> {
  const { atAlpha, atBravo, toBravo, toAlpha } = two
  await carryUntil(toAlpha, async () => (await findSession(atAlpha, id))?.state === 'RATIFIED')
  await carryUntil(toBravo, async () => (await findSession(atBravo, id))?.state === 'RATIFIED')
  const home = await waitForState(atAlpha, id, 'RATIFIED')
  const speakers = (await atAlpha.ok(recordOf, { id })).items.map(({ contributor_id }) => contributor_id)
  expect([home.contributions, speakers]).toEqual([2, ['alice', 'bravo']])
  // Either site also speaks for itself from time to time: so this is waited for.
  await waitUntil(() => listUndelivered(two).length === 0)
}

function listUndelivered({ alpha, bravo }: PackagedSitePair): string[] {
  const folders = [formatChannelFolder(alpha, bravo, 'in', 'work'), formatChannelFolder(alpha, bravo, 'in', 'new')]
  return [...folders, formatChannelFolder(bravo, alpha, 'out', 'tmp')].flatMap((folder) => fs.readdirSync(folder))
}

function listUnexplainedFiles({ alpha, bravo, toAlpha }: PackagedSitePair): string[] {
  const explained = new Set(listQuarantined(toAlpha).flatMap(({ files }) => files.map(({ name }) => name)))
  const names = fs.readdirSync(formatChannelFolder(alpha, bravo, 'in', 'quarantine'))
  return names.filter((name) => !name.endsWith('.reason.json') && !explained.has(name))
}

/** The record is whole, the data sound, and each message applied once. */
export async function expectSoundRecord(site: FederatedSite): Promise<void> {
  expect(await site.runJson(['audit', 'verify'])).toMatchObject({ whole: true })
  expect(await site.runJson(['store', 'check'])).toMatchObject({ sound: true })
  const { stdout } = await site.run(['audit', 'export'])
  const events = stdout
    .trimEnd()
    .split('\n')
    .flatMap((line) => (JSON.parse(line).event ?? []) as { action: string; target: string })
  const applied = events.filter(({ action }) => action === 'filedrop.message.applied').map(({ target }) => target)
  expect(applied.length).toBeGreaterThan(0)
  expect(new Set(applied).size).toBe(applied.length)
}
