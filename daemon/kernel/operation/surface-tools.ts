// The tools of a surface that a role serves within an operation, such as the conversation of an administrator.
import { deriveTools, type McpTool, toolOperations } from '../api/mcp-tools.ts'
import { type Refusal, refuse } from '../error/errors.ts'
import { isRoleActing } from '../identity/admit-caller.ts'
import { type Caller, isPermitted } from '../identity/identity.ts'
import type { AddressedOperation, SurfaceName } from './operation.ts'
import type { OperationResponse } from './role-context.ts'

/** The tools of one surface, for the caller of one call. */
export interface SurfaceTools {
  /** Those that the caller may use. */
  list(): readonly McpTool[]
  /**
   * Performs one in the name of the caller. Refuses `not_found` for a tool that is not listed. Never throws. `signal` ends
   * it (default: that of the call).
   */
  perform(
    name: string,
    input: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ): Promise<OperationResponse | Refusal>
}

type ToolPerformer = (
  target: AddressedOperation,
  input: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
) => Promise<OperationResponse | Refusal>

/**
 * Roles of the site have no tools, neither in their own name nor in that of a principal: a role may request what
 * `daemon/role-calls.ts` lists, and not what a model chooses.
 */
export function surfaceTools(
  surface: SurfaceName,
  operations: readonly AddressedOperation[],
  caller: Caller,
  perform: ToolPerformer,
): SurfaceTools {
  const listed = isRoleActing(caller)
    ? []
    : toolsOf(surface, operations).filter(({ target: { operation } }) =>
        isPermitted(caller.permissions, operation.allow),
      )
  return {
    list: () => listed,
    async perform(name, input, signal) {
      const tool = listed.find((each) => each.name === name)
      return tool
        ? await perform(tool.target, input, signal)
        : refuse('not_found', 'there is no such tool for this caller')
    },
  }
}

const toolsBySurface = new WeakMap<readonly AddressedOperation[], Map<SurfaceName, readonly McpTool[]>>()

/** Derived once: their schemas cost milliseconds. */
function toolsOf(surface: SurfaceName, operations: readonly AddressedOperation[]): readonly McpTool[] {
  const known = toolsBySurface.get(operations) ?? new Map<SurfaceName, readonly McpTool[]>()
  toolsBySurface.set(operations, known)
  const tools = known.get(surface) ?? deriveTools(toolOperations(surface, operations))
  known.set(surface, tools)
  return tools
}
