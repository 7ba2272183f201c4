// Fetches and shows the quarantine item that a person is about to decide about.
import * as z from 'zod'
import { jws } from '../../daemon/kernel/cryptography/signatures.ts'
import type { ServiceClient } from '../client/client.ts'
import { CommandFailure } from '../program/command.ts'
import type { Terminal } from '../terminal/terminal.ts'

const quarantineItemResponse = z.object({
  site: z.string(),
  id: z.string(),
  reason: z.string(),
  detail: z.string(),
  sender_tenant_id: z.string().optional(),
  files: z.array(z.object({ name: z.string(), was: z.string(), sha384: z.string().optional() })),
  release: z.object({ signature: jws }).optional(),
  dismissal: z.object({ signature: jws }).optional(),
  is_release_withheld: z.literal(true).optional(),
  is_releasable: z.boolean(),
})

export type NamedQuarantineItem = z.infer<typeof quarantineItemResponse> & {
  readonly peer: string
  /** Without the peer. */
  readonly name: string
}

export type SignableQuarantineItem = Omit<NamedQuarantineItem, 'files'> & {
  /** SHA-384 of body and envelope. */
  readonly digests: readonly string[]
}

/** Fetches the item and prints its reason and files. Throws `CommandFailure` (2) for a malformed name. */
export async function fetchQuarantineItem(
  api: ServiceClient,
  itemName: string,
  terminal: Terminal,
): Promise<NamedQuarantineItem> {
  const [peer = '', name = '', ...extra] = itemName.split('/')
  if (!peer || !name || extra.length > 0) {
    throw new CommandFailure(
      2,
      `${itemName} is not an item; the form is <peer>/<id>`,
      '`platform filedrop quarantine list` lists the items',
    )
  }
  const item = quarantineItemResponse.parse(await api.call('site.quarantine.get', { peer, id: name }))
  terminal.note(`${item.id}: ${item.reason}, ${item.detail}`)
  for (const { was, sha384 } of item.files) terminal.note(`  ${was}  ${sha384 ?? ''}`)
  return { ...item, peer, name }
}

/** Throws `CommandFailure` (3) for an item that is not a message of two files. */
export function requireSignableItem({ files, ...item }: NamedQuarantineItem): SignableQuarantineItem {
  const digests = ['body', 'env'].flatMap(
    (part) => files.find((candidate) => candidate.name.endsWith(`.${part}.json`))?.sha384 ?? [],
  )
  if (digests.length !== 2)
    throw new CommandFailure(
      3,
      `${item.id} does not have both files of a message (body and envelope); it cannot be released`,
      `close it with: platform filedrop quarantine dismiss ${item.id} --reason TEXT`,
    )
  return { ...item, digests }
}

/** Fetches the item, prints it, and requires that it can be signed for. */
export async function fetchItemToSign(
  api: ServiceClient,
  itemName: string,
  terminal: Terminal,
): Promise<SignableQuarantineItem> {
  return requireSignableItem(await fetchQuarantineItem(api, itemName, terminal))
}
