// Whether messages come and go: channels that are frozen or silent, and messages that nobody takes, by the journal's times.
import * as fs from 'node:fs'
import { sqliteJournal } from '../../../../adapters/store/sqlite/journal.ts'
import { foldersOf } from '../../../../adapters/transport/filedrop/layout.ts'
import type { Channel, Journal } from '../../../kernel/journal.ts'
import type { Peer } from '../../../kernel/peer.ts'
import type { SiteFolder } from '../../site-folder.ts'
import type { Examined } from '../examination.ts'
import { type Finding, fine, problem, warning } from '../finding.ts'
import { rolesWithDatabase, withDatabase } from '../role-database.ts'
import { runningRoles } from '../running-roles.ts'
import { list } from '../site-peers.ts'

/** Of its inventories' intervals, as the carrier itself counts: they say how often a channel is served. */
const patient_intervals = 3

export async function trafficFindings({ folder, now }: Examined): Promise<Finding[]> {
  const site = rolesWithDatabase(folder).find(({ name }) => name === 'site')
  const peers = await list(folder)
  if (!site || peers.length === 0) return []
  const isRunning = (await runningRoles(folder)).includes('site')
  const findings = await withDatabase(folder, site, async ({ sqlite, audit }) => {
    const journal = sqliteJournal(sqlite, audit)
    const channels = await journal.channels()
    const judged = peers.map((peer) => {
      const own = channels.filter((channel) => channel.peer === peer.name)
      return ofPeer(peer, own, { folder, journal, now, isRunning })
    })
    return (await Promise.all(judged)).flat()
  })
  return findings.length > 0 ? findings : [fine('traffic', 'no channel is frozen, silent or stuck')]
}

type Around = {
  readonly folder: SiteFolder
  readonly journal: Journal
  readonly now: number
  readonly isRunning: boolean
}

async function ofPeer(peer: Peer, channels: readonly Channel[], around: Around): Promise<Finding[]> {
  const found: Finding[] = []
  for (const channel of channels) {
    if (channel.state === 'frozen') found.push(frozen(peer, channel))
    else if (channel.direction === 'in') found.push(...silent(peer, channel, around))
    else found.push(...(await stuck(peer, channel, around)))
  }
  return found
}

function frozen({ name }: Peer, { direction, detail }: Channel): Finding {
  const look =
    direction === 'in'
      ? `settle with the people of ${name} which of its messages are true (platform filedrop quarantine list --peer ${name}); then platform filedrop unfreeze ${name}, and it opens a new epoch`
      : `platform filedrop epoch ${name}`
  return problem('traffic', `the channel ${direction === 'in' ? 'from' : 'to'} ${name} is frozen: ${detail}`, look)
}

/** Only a site that runs can say so: to one that was switched off nobody is silent. */
function silent(peer: Peer, { inventory_at }: Channel, { now, isRunning }: Around): Finding[] {
  const since = inventory_at || Date.parse(peer.enrolled)
  if (!isRunning || now - since <= patient_intervals * peer.inventory_interval_s * 1_000) return []
  const what = inventory_at === 0 ? 'no inventory has ever come' : `no inventory has come since ${isoOf(inventory_at)}`
  return [
    warning(
      'traffic',
      `the channel from ${peer.name} is stale: ${what}`,
      `look at the carrier, then ask ${peer.name} whether it sends`,
    ),
  ]
}

/** By the journal it waits; by the folder it still lies there, so that it is not only this site that has not looked. */
async function stuck(peer: Peer, { channel }: Channel, { folder, journal, now }: Around): Promise<Finding[]> {
  const { spooled, published, oldest } = await journal.backlog(channel)
  if (oldest === undefined || now - oldest <= patient_intervals * peer.inventory_interval_s * 1_000) return []
  const { ready } = foldersOf(folder.filedrop, peer.name)
  const isThere = (fs.existsSync(ready) ? fs.readdirSync(ready) : []).some((name) => name.endsWith('.json'))
  const since = isoOf(oldest)
  if (isThere) {
    const detail = `${peer.name}: no carrier takes what is ready (${counted(spooled + published)}, the first since ${since})`
    return [warning('traffic', detail, `look why nobody takes them from ${ready}`)]
  }
  if (spooled === 0) return []
  const detail = `${peer.name}: not made ready yet (${counted(spooled)}, the first since ${since})`
  return [warning('traffic', detail, 'start the site; while it runs: platform filedrop status')]
}

function counted(messages: number): string {
  return messages === 1 ? '1 message' : `${messages} messages`
}

function isoOf(at: number): string {
  return new Date(at).toISOString()
}
