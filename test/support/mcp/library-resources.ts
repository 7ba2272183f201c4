// Resources of a tool service for tests: each document has its URI as its text, and a second content in bytes.
import { ResourceNotFoundError, type Server } from '@modelcontextprotocol/server'

/** Fields of a resource in a list, besides its URI. */
type ListedFields = Readonly<Record<string, unknown>>

export class LibraryResources {
  /** By URI; one with a variable in braces is a template. */
  readonly #listed = new Map<string, ListedFields>()
  readonly #report: () => Promise<void>
  /** URIs that were read. */
  readonly read: string[] = []

  /** `report`: of a change of the list. */
  constructor(report: () => Promise<void>) {
    this.#report = report
  }

  /** Lists these fields for the resource from now on, and reports the change. */
  async define(uri: string, fields: ListedFields = {}): Promise<void> {
    this.#listed.set(uri, fields)
    await this.#report()
  }

  async remove(uri: string): Promise<void> {
    this.#listed.delete(uri)
    await this.#report()
  }

  /** One resource a page. A document whose URI ends with `absent` does not exist. */
  offer(server: Server): void {
    server.setRequestHandler('resources/list', ({ params }) => {
      const listed = [...this.#listed].filter(([uri]) => !isTemplate(uri))
      const from = Number(params?.cursor ?? 0)
      return {
        resources: listed.slice(from, from + 1).map(([uri, fields]) => ({ uri, name: uri, ...fields })),
        ...(from + 1 < listed.length ? { nextCursor: String(from + 1) } : {}),
      }
    })
    server.setRequestHandler('resources/templates/list', () => ({
      resourceTemplates: [...this.#listed]
        .filter(([uri]) => isTemplate(uri))
        .map(([uriTemplate, fields]) => ({ uriTemplate, name: uriTemplate, ...fields })),
    }))
    server.setRequestHandler('resources/read', ({ params: { uri } }) => {
      this.read.push(uri)
      if (uri.endsWith('absent')) throw new ResourceNotFoundError(uri)
      return {
        contents: [
          { uri, mimeType: 'text/plain', text: uri },
          { uri: `${uri}#bytes`, blob: 'AAEC' },
        ],
      }
    })
  }
}

const isTemplate = (uri: string) => uri.includes('{')
