// The blobs of a container of Azure Storage, as objects.
import type { ObjectSource } from '../../../daemon/shared/object-source/object-source.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { encodeKey, encodeText, ObjectClient, type ObjectRequest, rangeFrom } from '../http/object-client.ts'
import { parseAzureListing, trimETag } from './azure-listing.ts'
import { signSharedKey } from './azure-signature.ts'

export type AzureBlobAccess = {
  /** Its path, or else its host, begins with the name of the account. */
  readonly account_url: string
  readonly container: string
  /** Absent: requests are anonymous. */
  readonly secret?: { readonly account_key: string } | { readonly sas_token: string } | undefined
  readonly ca?: string | undefined
  readonly rule: AddressRule
}

/** The first one whose listings keep names that XML has no characters for. */
const interface_version = '2021-02-12'
const page_blobs = 1_000
const absent = { code: 'ContainerNotFound', message: 'the server has no such container' }

export function azureBlobSource({ account_url, container, secret, ca, rule }: AzureBlobAccess): ObjectSource {
  const { origin, hostname, pathname } = new URL(account_url)
  const base = pathname.replace(/\/$/, '')
  const account = base === '' ? (hostname.split('.')[0] ?? '') : (base.split('/')[1] ?? '')
  const root = `${base}/${encodeText(container)}`
  const client = new ObjectClient({ origin, ca, rule })
  const prepare = (
    path: string,
    query: Readonly<Record<string, string>>,
    more: Readonly<Record<string, string>> = {},
  ): ObjectRequest => {
    const headers = { ...more, 'x-ms-date': new Date().toUTCString(), 'x-ms-version': interface_version }
    const sent = Object.entries(query).map(([name, value]) => `${name}=${encodeText(value)}`)
    if (secret && 'sas_token' in secret) sent.push(secret.sas_token.replace(/^\?/, ''))
    const authorization =
      secret && 'account_key' in secret
        ? signSharedKey({ account, path, query, headers }, secret.account_key)
        : undefined
    return {
      path: sent.length === 0 ? path : `${path}?${sent.join('&')}`,
      headers: { ...headers, ...(authorization !== undefined && { authorization }) },
    }
  }
  const list = async (prefix: string, from: string | undefined, count: number, signal: AbortSignal) => {
    const query = {
      ...{ restype: 'container', comp: 'list', maxresults: String(count) },
      ...(prefix !== '' && { prefix }),
      ...(from !== undefined && { marker: from }),
    }
    return parseAzureListing(await client.readAnswer(prepare(root, query), absent, signal))
  }
  return {
    async probe(prefix, signal) {
      await list(prefix, undefined, 1, signal)
      return 'a container whose blobs can be listed'
    },
    listPage: (prefix, from, signal) => list(prefix, from, page_blobs, signal),
    readObject(object, from, signal) {
      const headers = { 'if-match': `"${object.version}"`, ...rangeFrom(from) }
      const request = prepare(`${root}/${encodeKey(object.key)}`, {}, headers)
      return client.readObject(request, object, from, (response) => trimETag(response.header('etag') ?? ''), signal)
    },
    close: () => client.close(),
  }
}
