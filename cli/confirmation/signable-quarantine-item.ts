// Fetches and shows the quarantine item whose release a person is about to sign.
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
  is_release_withheld: z.literal(true).optional(),
})

export type SignableQuarantineItem = Omit<z.infer<typeof quarantineItemResponse>, 'files'> & {
  readonly peer: string
  /** Without the peer. */
  readonly name: string
  /** SHA-384 of body and envelope. */
  readonly digests: readonly string[]
}

/** Fetches the item and prints what would be signed. Throws `CommandFailure`: 2 for a malformed name, 3 if the item is not a message. */
export async function fetchItemToSign(
  api: ServiceClient,
  itemName: string,
  terminal: Terminal,
): Promise<SignableQuarantineItem> {
  const [peer = '', name = '', ...extra] = itemName.split('/')
  if (!peer || !name || extra.length > 0) {
    throw new CommandFailure(
      2,
      `${itemName} is not an item; the form is <peer>/<id>`,
      '`platform filedrop quarantine list` lists the items',
    )
  }
  const { files, ...item } = quarantineItemResponse.parse(await api.call('site.quarantine.get', { peer, id: name }))
  const digests = ['body', 'env'].flatMap(
    (part) => files.find((candidate) => candidate.name.endsWith(`.${part}.json`))?.sha384 ?? [],
  )
  if (digests.length !== 2)
    throw new CommandFailure(
      3,
      `${itemName} does not have both files of a message (body and envelope); it cannot be released`,
    )
  terminal.note(`${item.id}: ${item.reason}, ${item.detail}`)
  for (const { was, sha384 } of files) terminal.note(`  ${was}  ${sha384}`)
  return { ...item, peer, name, digests }
}
