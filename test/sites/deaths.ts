// Two sites whose daemons die at named steps of the carrier and are started again, and what must be true in the end.
import * as fs from 'node:fs'
import { expect } from 'vitest'
import { list as recordOf } from '../../daemon/roles/consensus/contribution/list.ts'
import type { Daemon, PackagedSite } from '../support/packaged-sites.ts'
import { until } from '../support/site-world.ts'
import { folderOf, type Parcel, quarantined } from './courier.ts'
import { carryUntil, inState, invited, seen, spoken, type Two, twoSites } from './question.ts'

export type Deaths = {
  readonly two: Two
  /** Points at which a process has died. */
  readonly tried: Set<string>
  /** Starts the site so that it dies at this point, does what leads there until it has, and starts it anew. */
  diesAt(site: PackagedSite, point: string, act: () => Promise<unknown>, meanwhile?: () => void): Promise<void>
  /** A session that both know, in which bob has not spoken yet. */
  invited(): Promise<string>
  /** What the courier has in its bag once bob's word is in it. */
  spoken(): Promise<{ readonly id: string; readonly parcel: Parcel }>
  /** Whatever died on the way, in the end both have decided, with one word of each, and nothing lies where it should not. */
  happensOnce(id: string): Promise<void>
  /** The files in alpha's quarantine that no reason speaks of. */
  unexplained(): string[]
  /** The record is whole, the data sound, and each message applied once. */
  soundRecord(site: PackagedSite): Promise<void>
  end(): Promise<void>
}

/** Both run. */
export async function deaths(): Promise<Deaths> {
  const two = await twoSites()
  const daemons = new Map<PackagedSite, Daemon>()
  for (const site of [two.alpha, two.bravo]) daemons.set(site, await site.start())
  const tried = new Set<string>()
  return {
    two,
    tried,
    async diesAt(site, point, act, meanwhile = () => undefined) {
      await daemons.get(site)?.stop()
      const doomed = await site.startUntil(point)
      await act().catch(whenNobodyAnswered)
      await until(() => {
        meanwhile()
        return doomed.isGone()
      })
      expect(doomed.log().trimEnd().split('\n').at(-1)).toBe(`fault point ${point}`)
      daemons.set(site, await site.start())
      tried.add(point.split(':')[0] ?? '')
    },
    invited: () => invited(two),
    spoken: () => spoken(two),
    happensOnce: (id) => happensOnce(two, id),
    unexplained: () => unexplained(two),
    soundRecord,
    end: () => two.world.end(),
  }
}

/** A refusal is an answer; no connection, or one that broke off, is none. */
function whenNobodyAnswered(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error
}

async function happensOnce(two: Two, id: string): Promise<void> {
  const { atAlpha, atBravo, there, back } = two
  await carryUntil(back, async () => (await seen(atAlpha, id))?.state === 'RATIFIED')
  await carryUntil(there, async () => (await seen(atBravo, id))?.state === 'RATIFIED')
  const home = await inState(atAlpha, id, 'RATIFIED')
  const speakers = (await atAlpha.ok(recordOf, { id })).items.map(({ contributor_id }) => contributor_id)
  expect([home.contributions, speakers]).toEqual([2, ['alice', 'bravo']])
  // Either site also speaks for itself from time to time: so this is waited for.
  await until(() => underway(two).length === 0)
}

function underway({ alpha, bravo }: Two): string[] {
  const folders = [folderOf(alpha, bravo, 'in', 'work'), folderOf(alpha, bravo, 'in', 'new')]
  return [...folders, folderOf(bravo, alpha, 'out', 'tmp')].flatMap((folder) => fs.readdirSync(folder))
}

function unexplained({ alpha, bravo, back }: Two): string[] {
  const told = new Set(quarantined(back).flatMap(({ files }) => files.map(({ name }) => name)))
  const names = fs.readdirSync(folderOf(alpha, bravo, 'in', 'quarantine'))
  return names.filter((name) => !name.endsWith('.reason.json') && !told.has(name))
}

/** The record is whole, the data sound, and each message applied once. */
export async function soundRecord(site: PackagedSite): Promise<void> {
  expect(await site.answered(['audit', 'verify'])).toMatchObject({ whole: true })
  expect(await site.answered(['store', 'check'])).toMatchObject({ sound: true })
  const { stdout } = await site.platform(['audit', 'export'])
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).event as { action: string; target: string })
  const applied = events.filter(({ action }) => action === 'filedrop.message.applied').map(({ target }) => target)
  expect(applied.length).toBeGreaterThan(0)
  expect(new Set(applied).size).toBe(applied.length)
}
