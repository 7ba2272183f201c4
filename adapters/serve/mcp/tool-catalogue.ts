// The tools of a surface as they are now: derived from operations that may change while the service runs.
import { hash } from 'node:crypto'
import { deriveTools, type McpTool } from '../../../daemon/kernel/api/mcp-tools.ts'
import { isOfferedTo } from '../../../daemon/kernel/identity/admit-caller.ts'
import type { Caller } from '../../../daemon/kernel/identity/identity.ts'
import type { AddressedOperation } from '../../../daemon/kernel/operation/operation.ts'

export class ToolCatalogue {
  readonly #listOperations: () => readonly AddressedOperation[]
  #operations: readonly AddressedOperation[] = []
  #tools: readonly McpTool[] = []
  readonly #digests = new WeakMap<McpTool, string>()

  /** `listOperations`: the same array until the operations change. */
  constructor(listOperations: () => readonly AddressedOperation[]) {
    this.#listOperations = listOperations
  }

  find(name: string): McpTool | undefined {
    return this.#current().find((tool) => tool.name === name)
  }

  /** Tools that the caller may not use are not offered. */
  toolsFor(caller: Caller): readonly McpTool[] {
    return this.#current().filter(({ target }) => isOfferedTo(caller, target.operation))
  }

  /** Differs whenever the caller would read another list: a change of tools that it may not use is none to it. */
  stateFor(caller: Caller): string {
    return this.toolsFor(caller)
      .map((tool) => this.#digestOf(tool))
      .join()
  }

  #current(): readonly McpTool[] {
    const operations = this.#listOperations()
    if (operations !== this.#operations) this.#tools = deriveTools(operations)
    this.#operations = operations
    return this.#tools
  }

  #digestOf(tool: McpTool): string {
    const known = this.#digests.get(tool)
    if (known !== undefined) return known
    const { target: _, ...shown } = tool
    const digest = hash('sha256', JSON.stringify(shown), 'base64url')
    this.#digests.set(tool, digest)
    return digest
  }
}
