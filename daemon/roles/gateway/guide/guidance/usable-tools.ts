// The tools that a caller may use, as guidance names them: derived once for each set of permissions.
import { isPermitted } from '../../../../kernel/identity/identity.ts'
import type { AddressedOperation } from '../../../../kernel/operation/operation.ts'
import type { UsableTools } from './rules.ts'

/** `key`: the same for the same tools, and for no others, within a process. */
export type KeyedTools = UsableTools & { readonly key: string }

type Catalogue = readonly AddressedOperation[]
type KnownCatalogue = { readonly number: number; readonly byPermission: ReadonlyMap<string, readonly string[]> } & {
  readonly usable: Map<string, KeyedTools>
}

/** Callers with other sets of permissions than these are served as well, at the cost of a walk over the tools. */
const max_known_sets = 256

export class ToolCatalogues {
  readonly #known = new WeakMap<Catalogue, KnownCatalogue>()
  #count = 0

  /** `catalogue`: the same array until it changes. */
  findUsable(catalogue: Catalogue, permissions: ReadonlySet<string>): KeyedTools {
    const known = this.#known.get(catalogue) ?? this.#learn(catalogue)
    const permitted = [...known.byPermission.keys()].filter((allow) => isPermitted(permissions, allow))
    const key = `${known.number} ${permitted.join(' ')}`
    const found = known.usable.get(key)
    if (found) return found
    const names = permitted.flatMap((allow) => known.byPermission.get(allow) ?? [])
    const usable = {
      key,
      tools: new Set(names),
      services: new Set(names.map((name) => name.slice(0, name.indexOf('/')))),
    }
    if (known.usable.size >= max_known_sets) known.usable.clear()
    known.usable.set(key, usable)
    return usable
  }

  #learn(catalogue: Catalogue): KnownCatalogue {
    const byPermission = new Map<string, string[]>()
    for (const { operation } of catalogue) {
      if (operation.tool === undefined) continue
      // Names of services have no `_`.
      const name = operation.tool.replace('__', '/')
      const names = byPermission.get(operation.allow)
      if (names) names.push(name)
      else byPermission.set(operation.allow, [name])
    }
    this.#count += 1
    const known = { number: this.#count, byPermission, usable: new Map<string, KeyedTools>() }
    this.#known.set(catalogue, known)
    return known
  }
}

/** Of an agent that gets no token of its callers: it can use no tools but its own. */
export function keepService(usable: KeyedTools, service: string): KeyedTools {
  return {
    key: `${usable.key} only ${service}`,
    tools: new Set([...usable.tools].filter((name) => name.startsWith(`${service}/`))),
    services: new Set([service].filter((each) => usable.services.has(each))),
  }
}
