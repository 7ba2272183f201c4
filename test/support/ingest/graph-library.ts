// A library of SharePoint by the documented interface of Microsoft Graph: what a source reads of it. Its maker has no emulator.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

type LibraryItem = {
  readonly id: string
  readonly name: string
  readonly items?: Map<string, LibraryItem>
  readonly content?: Buffer
  readonly cTag?: string
  readonly isLink?: boolean
}

export type GraphLibrary = {
  put(key: string, content: string): void
  remove(key: string): void
  /** Serves requests below /v1.0, and contents below /download, which need no token. `origin`: of the server. */
  serve(origin: string, request: IncomingMessage, response: ServerResponse): void
  /** Adds a link to a file of another library. */
  link(name: string): void
}

/** `site`: its path; `name`: of the library, which has more than one page of libraries before it. */
export function graphLibrary(site: string, name: string): GraphLibrary {
  const root: LibraryItem = { id: 'root', name: 'root', items: new Map() }
  const byId = new Map<string, LibraryItem>()
  let count = 0
  const add = (folder: LibraryItem, item: LibraryItem) => {
    folder.items?.set(item.name, item)
    byId.set(item.id, item)
    return item
  }
  const folderOf = (key: string): LibraryItem => {
    let folder = root
    for (const each of key.split('/').slice(0, -1))
      folder = folder.items?.get(each) ?? add(folder, { id: `f!${++count}`, name: each, items: new Map() })
    return folder
  }
  const answers: Readonly<Record<string, (origin: string, query: URLSearchParams, id: string) => object | undefined>> =
    {
      [`sites/127.0.0.1:${site}`]: () => ({ id: '127.0.0.1,1,2' }),
      'sites/127.0.0.1,1,2/drives': (origin, query) => {
        const next = `${origin}/v1.0/sites/127.0.0.1,1,2/drives?page=2`
        if (query.get('page') === '2') return { value: [{ id: 'b!1', name }] }
        return { value: [{ id: 'b!0', name: 'Other' }], '@odata.nextLink': next }
      },
      'drives/b!1/root/children': (origin, query) => list(origin, query, 'root/children', root),
      'drives/b!1/items/*/children': (origin, query, id) => list(origin, query, `items/${id}/children`, byId.get(id)),
      'drives/b!1/items/*': (origin, _, id) => {
        const found = byId.get(id)
        return found && describe(found, origin)
      },
    }
  const list = (origin: string, query: URLSearchParams, at: string, folder: LibraryItem | undefined) => {
    if (!folder?.items) return undefined
    const all = [...folder.items.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const [from, most] = [Number(query.get('$skiptoken') ?? 0), Number(query.get('$top'))]
    const next = `${origin}/v1.0/drives/b!1/${at}?$top=${most}&$skiptoken=${from + most}`
    const value = all.slice(from, from + most).map((each) => describe(each))
    return { value, ...(all.length > from + most && { '@odata.nextLink': next }) }
  }
  const findFolder = (path: string): LibraryItem | undefined =>
    path.split('/').reduce<LibraryItem | undefined>((folder, each) => folder?.items?.get(each), root)
  return {
    put(key, content) {
      const folder = folderOf(key)
      const shown = key.split('/').at(-1) ?? ''
      const id = folder.items?.get(shown)?.id ?? `i!${++count}`
      add(folder, { id, name: shown, content: Buffer.from(content), cTag: `"c:{${randomUUID()}},1"` })
    },
    remove(key) {
      const folder = folderOf(key)
      const shown = key.split('/').at(-1) ?? ''
      byId.delete(folder.items?.get(shown)?.id ?? '')
      folder.items?.delete(shown)
    },
    link(shown) {
      add(root, { id: `l!${++count}`, name: shown, content: Buffer.from('id\n9\n'), cTag: '"c:{l},1"', isLink: true })
    },
    serve(origin, { url = '', headers }, response) {
      const { pathname, searchParams } = new URL(url, origin)
      const path = decodeURIComponent(pathname)
      if (path.startsWith('/download/')) return sendContent(byId.get(path.slice(10))?.content, headers.range, response)
      const at = path.slice('/v1.0/'.length)
      const [, folder] = /^drives\/b!1\/root:\/(.+):\/children$/.exec(at) ?? []
      const [, id = ''] = /^drives\/b!1\/items\/([^/]+)/.exec(at) ?? []
      const pattern = id === '' ? at : at.replace(`items/${id}`, 'items/*')
      const found = folder === undefined ? undefined : findFolder(folder)
      const answer = found
        ? list(origin, searchParams, `items/${found.id}/children`, found)
        : answers[pattern]?.(origin, searchParams, id)
      const status = answer ? 200 : 404
      const body = answer ?? { error: { code: 'itemNotFound', message: 'The resource could not be found.' } }
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    },
  }
}

/** `origin`: of the link to the content. */
function describe({ id, name, items, content, cTag, isLink }: LibraryItem, origin?: string) {
  return {
    ...{
      id,
      name,
      size: content?.length ?? 0,
      ...(items ? { folder: { childCount: items.size } } : { file: {}, cTag }),
    },
    ...(isLink && { remoteItem: { id: 'elsewhere' } }),
    ...(origin !== undefined && { '@microsoft.graph.downloadUrl': `${origin}/download/${id}?tempauth=1` }),
  }
}

function sendContent(content: Buffer | undefined, range: string | undefined, response: ServerResponse): void {
  if (!content) return void response.writeHead(404).end()
  const [, from] = /^bytes=(\d+)-$/.exec(range ?? '') ?? []
  if (from === undefined) return void response.writeHead(200).end(content)
  const headers = { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` }
  response.writeHead(206, headers).end(content.subarray(Number(from)))
}
