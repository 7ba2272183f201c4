// The objects of a bucket of Google Cloud Storage, by its JSON interface.
import * as z from 'zod'
import { parseJsonAs } from '../../../daemon/kernel/encoding/parse-json.ts'
import type { ObjectSource } from '../../../daemon/shared/object-source/object-source.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { AccessTokens, formRequest } from '../http/access-tokens.ts'
import { encodeText, ObjectClient, rangeFrom } from '../http/object-client.ts'

export type GcsAccess = {
  readonly bucket: string
  /** Pays for the requests. */
  readonly project?: string | undefined
  readonly endpoint: string
  /** Absent: requests are anonymous. */
  readonly account?: GcsAccount | undefined
  readonly ca?: string | undefined
  readonly rule: AddressRule
}

export type GcsAccount = {
  readonly token_uri: string
  /** Signs the assertion of the account for this scope. */
  readonly assert: (scope: string) => Promise<string>
}

const scope = 'https://www.googleapis.com/auth/devstorage.read_only'
const page_objects = 1_000
const absent = { code: 'notFound', message: 'the server has no such bucket' }

const listing = z.looseObject({
  kind: z.literal('storage#objects'),
  items: z
    .array(
      z.looseObject({ name: z.string(), size: z.string().regex(/^\d{1,15}$/), generation: z.string().regex(/^\d+$/) }),
    )
    .max(page_objects)
    .default([]),
  nextPageToken: z.string().optional(),
})

export function gcsSource({ bucket, project, endpoint, account, ca, rule }: GcsAccess): ObjectSource {
  const { origin, pathname } = new URL(endpoint)
  const root = `${pathname.replace(/\/$/, '')}/storage/v1/b/${encodeText(bucket)}/o`
  const client = new ObjectClient({ origin, ca, rule })
  const tokens = account && openTokens(account, ca, rule)
  const payer = project === undefined ? {} : { userProject: project }
  const list = async (prefix: string, from: string | undefined, count: number, signal: AbortSignal) => {
    const query = new URLSearchParams({
      ...{ maxResults: String(count), prefix, fields: 'kind,items(name,size,generation),nextPageToken', ...payer },
      ...(from !== undefined && { pageToken: from }),
    })
    const headers = await tokens?.authorize(signal)
    const request = { path: `${root}?${query}`, ...(headers && { headers }) }
    const page = parseJsonAs(listing, await client.readAnswer(request, absent, signal))
    if (!page) throw new RowSourceError('the server does not answer as a store of Google Cloud does')
    const { items, nextPageToken: next = '' } = page
    const objects = items.map(({ name, size, generation }) => ({ key: name, bytes: Number(size), version: generation }))
    return { objects, ...(next !== '' && { next }) }
  }
  return {
    async probe(prefix, signal) {
      await list(prefix, undefined, 1, signal)
      return 'a bucket whose objects can be listed'
    },
    listPage: (prefix, from, signal) => list(prefix, from, page_objects, signal),
    async *readObject(object, from, signal) {
      const query = new URLSearchParams({ alt: 'media', ifGenerationMatch: object.version, ...payer })
      const headers = { ...(await tokens?.authorize(signal)), ...rangeFrom(from) }
      const request = { path: `${root}/${encodeName(object.key)}?${query}`, headers }
      yield* client.readObject(request, object, from, (response) => response.header('x-goog-generation'), signal)
    },
    close() {
      client.close()
      tokens?.close()
    },
  }
}

/** One segment of the path: also a name of dots alone. */
function encodeName(name: string): string {
  return encodeText(name).replace(/^\.+$/, (dots) => dots.replaceAll('.', '%2E'))
}

function openTokens({ token_uri, assert }: GcsAccount, ca: string | undefined, rule: AddressRule): AccessTokens {
  const { origin, pathname, search } = new URL(token_uri)
  const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
  return new AccessTokens(new ObjectClient({ origin, ca, rule }), async () =>
    formRequest(pathname + search, { grant_type, assertion: await assert(scope) }),
  )
}
