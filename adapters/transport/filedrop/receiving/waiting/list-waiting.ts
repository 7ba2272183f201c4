// Lists the messages of a link that cannot be applied yet, with what each of them waits for.
import type { Journal } from '../../../../../daemon/kernel/messaging/journal.ts'
import type { WaitingMessage } from '../../../../../daemon/kernel/messaging/waiting-message.ts'
import type { FiledropLinkRuntime } from '../../link/link-runtime.ts'

/** As the last scan found them; empty before the first. */
export async function listWaiting(
  { link, intake }: FiledropLinkRuntime,
  journal: Pick<Journal, 'progress'>,
): Promise<WaitingMessage[]> {
  const floors = new Map<number, number>()
  const found: WaitingMessage[] = []
  for (const { entry, waits_for, role } of intake()?.pending() ?? []) {
    const { epoch, seq, kind, msg_id, at, not_after } = entry
    if (!floors.has(epoch)) floors.set(epoch, (await journal.progress(link.channel.in, epoch)).floor)
    found.push({
      ...{ peer: link.peer, epoch, seq, kind, msg_id, waits_for },
      ...(waits_for === 'number' ? { missing: (floors.get(epoch) ?? 0) + 1 } : {}),
      ...(role === undefined ? {} : { role }),
      since: new Date(at).toISOString(),
      expires: new Date(not_after).toISOString(),
    })
  }
  return found
}
