// The operations that a walk over REST reaches; `test/mcp/every-tool.test.ts` walks the tools, with a path or without.
import { everyOperation } from '../../../daemon/every-role.ts'
import { isRouted } from '../../../daemon/kernel/operation/operation.ts'

export const routedOperations = everyOperation.filter(isRouted)
