// Requests to Microsoft Graph in the name of an application, and the library of documents of a site.
import * as z from 'zod'
import { parseJsonAs } from '../../../daemon/kernel/encoding/parse-json.ts'
import { nameSome, RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { AccessTokens, formRequest } from '../http/access-tokens.ts'
import { encodeText, ObjectClient } from '../http/object-client.ts'

export type GraphAccess = {
  readonly graph_url: string
  readonly login_url: string
  readonly directory_id: string
  readonly client_id: string
  /** Fields of the request for a token that prove the application. */
  readonly prove: (token_url: string) => Promise<Readonly<Record<string, string>>>
  readonly ca?: string | undefined
  readonly rule: AddressRule
}

const identified = z.looseObject({ id: z.string().min(1).max(1_024) })
const driveList = z.looseObject({
  value: z.array(identified.extend({ name: z.string() })).max(10_000),
  '@odata.nextLink': z.string().optional(),
})
const max_drive_pages = 100

export class GraphClient {
  readonly #client: ObjectClient
  readonly #tokens: AccessTokens
  readonly #base: URL

  constructor({ graph_url, login_url, directory_id, client_id, prove, ca, rule }: GraphAccess) {
    this.#base = new URL(`${graph_url.replace(/\/$/, '')}/v1.0/`)
    this.#client = new ObjectClient({ origin: this.#base.origin, ca, rule })
    const login = new URL(`${login_url.replace(/\/$/, '')}/${encodeText(directory_id)}/oauth2/v2.0/token`)
    const usual = { client_id, grant_type: 'client_credentials', scope: `${this.#base.origin}/.default` }
    this.#tokens = new AccessTokens(new ObjectClient({ origin: login.origin, ca, rule }), async () =>
      formRequest(login.pathname, { ...usual, ...(await prove(login.href)) }),
    )
  }

  /** `at`: below the version of the interface, or a link of an answer. `absent`: what a 404 says. Throws `RowSourceError`. */
  async get<T>(at: string, schema: z.ZodType<T>, absent: string, signal: AbortSignal): Promise<T> {
    const found = await this.find(at, schema, signal)
    if (found === undefined) throw new RowSourceError(absent)
    return found
  }

  /** The same; undefined for a 404. */
  async find<T>(at: string, schema: z.ZodType<T>, signal: AbortSignal): Promise<T | undefined> {
    const path = at.startsWith('https:') ? this.#pathOfLink(at) : `${this.#base.pathname}${at}`
    const headers = await this.#tokens.authorize(signal)
    const bytes = await this.#client.findAnswer({ path, headers }, signal)
    if (!bytes) return undefined
    const answer = parseJsonAs(schema, bytes)
    if (answer === undefined) throw new RowSourceError('the server does not answer as Microsoft Graph does')
    return answer
  }

  /** The token goes to no other place. */
  #pathOfLink(link: string): string {
    const url = URL.parse(link)
    if (url?.origin === this.#base.origin && url.pathname.startsWith(this.#base.pathname))
      return url.pathname + url.search
    throw new RowSourceError('the server links to a place outside Microsoft Graph')
  }

  /** The path of a library of a site. Throws `RowSourceError`. */
  async findLibrary(site_url: string, library: string, signal: AbortSignal): Promise<string> {
    const { hostname, pathname } = new URL(site_url)
    const path = pathname.replace(/\/$/, '')
    const place = path === '' ? `sites/${hostname}` : `sites/${hostname}:${path}`
    const { id } = await this.get(`${place}?$select=id`, identified, 'the server has no such site', signal)
    const names: string[] = []
    let at: string | undefined = `sites/${encodeText(id)}/drives?$select=id,name`
    for (let pages = 0; at !== undefined && pages < max_drive_pages; pages++) {
      const page: z.infer<typeof driveList> = await this.get(at, driveList, 'the site has no libraries', signal)
      const found = page.value.find(({ name }) => name === library)
      if (found) return `drives/${encodeText(found.id)}`
      names.push(...page.value.map(({ name }) => name))
      at = page['@odata.nextLink']
    }
    throw new RowSourceError(`the site has no library ${nameSome([library])}; it has ${nameSome(names)}`)
  }

  close(): void {
    this.#client.close()
    this.#tokens.close()
  }
}
