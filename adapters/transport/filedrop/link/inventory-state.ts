// Tells whether the receiver knows the last number of an epoch: only an inventory shows it.
import type { InventoryState } from '../../../../daemon/kernel/messaging/one-way-control.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import type { FiledropLink } from './filedrop-link.ts'

/** `requested`: the epoch, by default the current one. No inventory of an earlier one will come. */
export async function readInventoryState(
  { channel, peer }: FiledropLink,
  requested: number | undefined,
  { journal, isAccredited, acknowledgements }: FiledropContext,
): Promise<InventoryState> {
  const channels = await journal.channels()
  const known = channels.find((each) => each.channel === channel.in)
  const canAcknowledge = channels.some((each) => each.channel === channel.out && each.state === 'open')
  const isCurrent = requested === undefined || requested === known?.epoch
  const inventory_at = known?.inventory_at || undefined
  return {
    is_inventory_pending: !isCurrent || (known?.inventory ?? 0) === 0,
    ...(inventory_at === undefined ? {} : { inventory_at: new Date(inventory_at).toISOString() }),
    is_requested: isCurrent && canAcknowledge && isAccredited(peer) && acknowledgements[peer] !== undefined,
  }
}
