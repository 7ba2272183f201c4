// Readers that several tests of the file-drop share. Unless a comment says otherwise, they read bravo's end of the channel.
import type { ChannelFolders } from '../../../adapters/transport/filedrop/files/channel-folders.ts'
import type { ChannelStatus } from '../../../daemon/kernel/messaging/channel-status.ts'
import { type FiledropSites, listChannelFolders, listQuarantineReasons } from './filedrop-sites.ts'

/** The channel from alpha to bravo. */
export const channel = 'filedrop/alpha/bravo'

/** The digest that the first message of an epoch names as its predecessor. */
export const zeros = '0'.repeat(96)

export function readFolders(sites: FiledropSites): ChannelFolders {
  return listChannelFolders(sites.bravo, 'alpha')
}

export function formatFreshPath(sites: FiledropSites): string {
  return readFolders(sites).fresh
}

export async function scanBravo(sites: FiledropSites): Promise<void> {
  await sites.bravo.transport.rescan()
}

export async function readInStatus(sites: FiledropSites): Promise<ChannelStatus | undefined> {
  return (await sites.bravo.transport.status()).find(({ direction }) => direction === 'in')
}

/** Reads alpha's end of the channel. */
export async function readOutStatus(sites: FiledropSites): Promise<ChannelStatus | undefined> {
  return (await sites.alpha.transport.status()).find(({ direction }) => direction === 'out')
}

/** Sequence numbers of the messages that bravo applied, in the order of their arrival. */
export function listReceivedNumbers(sites: FiledropSites): number[] {
  return sites.bravo.received.map(({ statement }) => statement.seq)
}

export function listReasons(sites: FiledropSites): string[] {
  return listQuarantineReasons(sites.bravo, 'alpha').map(({ reason }) => reason)
}

export async function listAuditRecords(sites: FiledropSites, action: string) {
  return await sites.bravo.audit.list({ action, limit: 9 })
}

/** The code and the message of the refusal that `result` rejects with; `nothing` when it resolves. */
export async function readRefusal(result: Promise<unknown>): Promise<{ code: string; message: string }> {
  return await result.then(
    () => ({ code: 'nothing', message: '' }),
    (error: { code?: string; message: string }) => ({ code: String(error.code), message: error.message }),
  )
}

/** The numbers from 1 to `count`. */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}
