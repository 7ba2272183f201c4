// Shows every channel with its numbers, backlog and faults, and follows a backlog until it is gone.
import { setTimeout as pause } from 'node:timers/promises'
import { offline } from '../../../daemon/offline/offline.ts'
import type { ServiceClient } from '../../client/client.ts'
import {
  formatChannels,
  formatChannelTroubles,
  formatDrainProgress,
  type TransportChannelStatus,
} from '../../format/channel.ts'
import { noteUnaccreditedPeers } from '../../format/peer.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { requireOwnSite } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { flag, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'filedrop status',
  summary: 'Show file-drop channels: state, numbers, gaps, backlog, quarantine',
  notes: [
    'BACKLOG: messages that no carrier has taken (out) or that were not imported yet (in). OLDEST: the age of the',
    'first. GAPS: missing messages; ? or + until an inventory shows the last number. HELD: messages that wait',
    'behind a gap. INVENTORY: the age of the last one. PER MIN: over the last five minutes. STATE closed: the peer',
    'is pinned, but has no channel until it is accredited. Messages that wait for a role are listed below. With',
    '--watch, ends when no backlog is left, with a progress bar on a terminal; fails if a channel with a backlog',
    'stops.',
  ].join('\n'),
  options: {
    peer: text('PEER', 'Only channels with this peer'),
    watch: flag('Wait until the backlog is gone'),
    ...serviceOptions,
  },
  example: 'platform filedrop status --watch',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const readChannels = () => fetchChannels(api, params.peer)
    const items = params.watch ? await waitUntilDrained(readChannels, terminal) : await readChannels()
    const closedPeers = params.url === undefined ? await listClosedPeers(params, items, terminal) : []
    const names = closedPeers.map(({ peer }) => peer)
    printResult(terminal, params.json, { items }, () => formatChannels(terminal, items, names))
    for (const trouble of formatChannelTroubles(terminal, items)) terminal.note(trouble)
    noteUnaccreditedPeers(terminal, closedPeers)
    return 0
  },
})

type ChannelSelection = { readonly site: string | undefined; readonly peer: string | undefined }

/** Pinned peers of the local site that have no channel because the profile does not accredit them. */
async function listClosedPeers(
  { site, peer }: ChannelSelection,
  items: readonly TransportChannelStatus[],
  terminal: Terminal,
) {
  const folder = requireOwnSite({ site }, terminal)
  const peers = await offline.peers()
  const names = (await peers.listPeers(folder))
    .map(({ name }) => name)
    .filter((name) => (peer === undefined || name === peer) && !items.some((item) => item.peer === name))
  return peers.listUnaccreditedPeers(folder, terminal.env, names, Date.now())
}

async function fetchChannels(api: ServiceClient, peer: string | undefined): Promise<readonly TransportChannelStatus[]> {
  const { items } = await api.call('site.channel.list', {})
  return (items as readonly TransportChannelStatus[]).filter(
    (channel) => channel.transport === 'filedrop' && (peer === undefined || channel.peer === peer),
  )
}

const poll_interval_ms = 1_000

/** The channels once their backlog is gone. Throws `CommandFailure` (1) if a channel with a backlog cannot drain. */
async function waitUntilDrained(
  readChannels: () => Promise<readonly TransportChannelStatus[]>,
  terminal: Terminal,
): Promise<readonly TransportChannelStatus[]> {
  let max_backlog = 0
  let since_ms = performance.now()
  for (;;) {
    const channels = await readChannels()
    const remaining = channels.reduce((sum, { backlog }) => sum + backlog, 0)
    if (remaining > max_backlog) {
      max_backlog = remaining
      since_ms = performance.now()
    }
    terminal.progress(
      remaining === 0 ? '' : formatDrainProgress(remaining, max_backlog, (performance.now() - since_ms) / 1_000),
    )
    if (remaining === 0) return channels
    const stuck = channels.find(({ backlog, state }) => backlog > 0 && state !== 'open')
    if (stuck) {
      terminal.progress('')
      throw new CommandFailure(
        1,
        `the channel ${stuck.peer} ${stuck.direction} cannot drain; it is ${stuck.state}: ${stuck.detail}`,
      )
    }
    await pause(poll_interval_ms)
  }
}
