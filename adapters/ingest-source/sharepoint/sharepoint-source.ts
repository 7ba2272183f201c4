// The files of a library of SharePoint as objects, by Microsoft Graph: the key of each is its path below the folder of the connection.
import * as z from 'zod'
import {
  ObjectChangedError,
  type ObjectPage,
  type ObjectSource,
  type StoredObject,
} from '../../../daemon/shared/object-source/object-source.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import { encodeKey, encodeText, ObjectClient, rangeFrom } from '../http/object-client.ts'
import { type GraphAccess, GraphClient } from './graph-client.ts'

export type SharepointAccess = GraphAccess & {
  readonly site_url: string
  readonly library: string
  /** Path in the library; absent: all of it. */
  readonly folder?: string | undefined
}

const page_items = 200
const no_folder = 'the library has no such folder'

const item = z.looseObject({
  id: z.string().min(1).max(1_024),
  name: z.string().min(1),
  size: z.number().optional(),
  cTag: z.string().optional(),
  file: z.unknown().optional(),
  folder: z.unknown().optional(),
  remoteItem: z.unknown().optional(),
})
const children = z.looseObject({ value: z.array(item).max(10_000), '@odata.nextLink': z.string().optional() })
const content = z.looseObject({
  size: z.number(),
  cTag: z.string(),
  '@microsoft.graph.downloadUrl': z.string().optional(),
})

/** A request for a page of a folder. `path`: of the folder as the beginning of keys. */
type FolderPage = { readonly path: string; readonly at: string }

export function sharepointSource(access: SharepointAccess): ObjectSource {
  return new SharepointSource(access)
}

class SharepointSource implements ObjectSource {
  readonly #access: SharepointAccess
  readonly #graph: GraphClient
  readonly #files: ObjectClient
  #library: string | undefined
  /** Of a listing that is under way: the next one last. */
  #pending: FolderPage[] = []
  #pages = 0

  constructor(access: SharepointAccess) {
    this.#access = access
    this.#graph = new GraphClient(access)
    const { ca, rule } = access
    this.#files = new ObjectClient({ origin: new URL(access.site_url).origin, ca, rule })
  }

  async probe(_prefix: string, signal: AbortSignal): Promise<string> {
    await this.#graph.get(await this.#findFolder(signal), children, no_folder, signal)
    return 'a library whose files can be listed'
  }

  /** The first page begins the listing from the top; the others follow in their order. */
  async listPage(prefix: string, from: string | undefined, signal: AbortSignal): Promise<ObjectPage> {
    if (from === undefined) this.#pending = [{ path: '', at: await this.#findFolder(signal) }]
    const page = this.#pending.at(-1)
    if (!page) return { objects: [] }
    const { value, '@odata.nextLink': link } = await this.#graph.get(page.at, children, no_folder, signal)
    const library = await this.#findLibrary(signal)
    // An item that links to another library is not of this one.
    const own = value.filter(({ remoteItem }) => remoteItem === undefined)
    const folders = own.flatMap(({ id, name, folder }) => {
      const path = `${page.path}${name}/`
      const isOnTheWay = prefix.startsWith(path) || path.startsWith(prefix)
      return folder !== undefined && isOnTheWay ? [{ path, at: childrenOf(`${library}/items/${encodeText(id)}`) }] : []
    })
    const rest = link === undefined ? [] : [{ path: page.path, at: link }]
    this.#pending = [...this.#pending.slice(0, -1), ...rest, ...folders.toReversed()]
    const files = own.filter(({ file, name }) => file !== undefined && `${page.path}${name}`.startsWith(prefix))
    const objects = files.map(({ id, name, size = -1, cTag = '' }) => {
      return { key: `${page.path}${name}`, bytes: size, version: cTag, id }
    })
    return { objects, ...(this.#pending.length > 0 && { next: String(++this.#pages) }) }
  }

  /** The link to a content has no condition: the version is compared before, and by `confirmObject` after. */
  async *readObject(object: StoredObject, from: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const link = await this.#requireVersion(object, signal)
    const { origin } = new URL(this.#access.site_url)
    const url = URL.parse(link ?? '')
    // It opens the file without a token, so that it needs no other place either.
    if (url?.origin !== origin || url.username !== '')
      throw new RowSourceError('the server links the content of a file outside the site')
    const request = { path: url.pathname + url.search, headers: rangeFrom(from) }
    yield* this.#files.readObject(request, object, from, () => object.version, signal)
  }

  async confirmObject(object: StoredObject, signal: AbortSignal): Promise<void> {
    await this.#requireVersion(object, signal)
  }

  async #requireVersion(
    { id = '', key, bytes, version }: StoredObject,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const at = `${await this.#findLibrary(signal)}/items/${encodeText(id)}?$select=id,size,cTag,@microsoft.graph.downloadUrl`
    const found = await this.#graph.find(at, content, signal)
    if (found?.size !== bytes || found.cTag !== version) throw new ObjectChangedError(key)
    return found['@microsoft.graph.downloadUrl']
  }

  async #findLibrary(signal: AbortSignal): Promise<string> {
    const { site_url, library } = this.#access
    this.#library ??= await this.#graph.findLibrary(site_url, library, signal)
    return this.#library
  }

  async #findFolder(signal: AbortSignal): Promise<string> {
    const { folder } = this.#access
    const library = await this.#findLibrary(signal)
    return childrenOf(folder === undefined ? `${library}/root` : `${library}/root:/${encodeKey(folder)}:`)
  }

  close(): void {
    this.#graph.close()
    this.#files.close()
  }
}

function childrenOf(folder: string): string {
  return `${folder}/children?$top=${page_items}&$orderby=name&$select=id,name,size,cTag,file,folder,remoteItem`
}
