// A quarantined message as an operator sees it: its place, its fault, and its claimed content.
import * as z from 'zod'
import { label } from '../../../kernel/label/label.ts'
import { personalSignature, waivableReason } from '../../../kernel/messaging/release.ts'
import { collection } from '../../../kernel/store/store.ts'

/** Identify one item; neither field can contain a path. */
export const itemFields = {
  peer: z.string().min(1).max(64),
  id: z.string().min(1).max(256).meta({ description: 'Id of the item, without the peer' }),
}

/** A request that waits for a second person. */
export const pendingRelease = z
  .strictObject({
    subject: z.string().meta({ description: 'Subject of the requester' }),
    waiver: waivableReason,
    label: label.optional(),
    reason: z.string(),
    created: z.iso.datetime(),
    ends: z.iso.datetime().meta({ description: 'Time after which it cannot be approved' }),
    digest: z.string().meta({ description: 'SHA-384 of the signed content; an approval names it' }),
    signature: personalSignature,
  })
  .meta({ id: 'PendingRelease', description: 'The request to release an item of quarantine' })
export type PendingRelease = z.infer<typeof pendingRelease>

/**
 * Stored under the id of the item: a later request replaces an earlier one. The label of the release is only in the
 * signed content: as the label of this record it would hide the request from people.
 */
export const releaseRequests = collection({
  name: 'release_request',
  schema: z.strictObject({ tenant_id: z.string(), ...pendingRelease.omit({ label: true }).shape, expires_ts: z.int() }),
  indexes: ['created'],
})

/** A dismissal that waits for a second person. */
export const pendingDismissal = pendingRelease
  .omit({ waiver: true, label: true })
  .meta({ id: 'PendingDismissal', description: 'The request to dismiss an item that two people could release' })
export type PendingDismissal = z.infer<typeof pendingDismissal>

export const dismissalRequests = collection({
  name: 'dismissal_request',
  schema: z.strictObject({ tenant_id: z.string(), ...pendingDismissal.shape, expires_ts: z.int() }),
  indexes: ['created'],
})

export const quarantineEntry = z
  .strictObject({
    id: z.string().meta({ description: 'peer/file name' }),
    peer: z.string(),
    file: z.string(),
    reason: z.string(),
    detail: z.string(),
    at: z.string(),
    digest: z.string().optional(),
    bytes: z.int().min(0),
    release: pendingRelease.optional(),
    is_release_withheld: z
      .literal(true)
      .optional()
      .meta({ description: 'True when there is a request under a label that the caller is not cleared for' }),
    dismissal: pendingDismissal.optional(),
  })
  .meta({ id: 'QuarantineEntry' })
export type QuarantineEntry = z.infer<typeof quarantineEntry>

export const quarantineItem = z
  .strictObject({
    ...quarantineEntry.shape,
    site: z.string().meta({ description: 'The name of this site in signatures' }),
    code: z.string().optional().meta({ description: 'Problem code of a refused command' }),
    epoch: z.int().optional(),
    seq: z.int().optional(),
    msg_id: z.string().optional(),
    is_releasable: z.boolean().meta({ description: 'Two people may release it, and it takes two to dismiss it' }),
    sender_tenant_id: z.string().optional().meta({ description: 'Tenant of the peer, as pinned' }),
    files: z.array(
      z.strictObject({
        name: z.string(),
        was: z.string(),
        bytes: z.int().min(0),
        sha384: z.string().optional().meta({ description: 'SHA-384 of the file as it is now' }),
      }),
    ),
  })
  .meta({ id: 'QuarantineItem', description: 'One quarantined message with its files' })
export type QuarantineItem = z.infer<typeof quarantineItem>
