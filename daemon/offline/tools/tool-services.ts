// The client of tool services as the command line uses it: an operator waits for a whole list, on any machine.
import { anyAddress } from '../../../adapters/platform/address-rule/address-rule.ts'
import { product } from '../../../adapters/platform/product/product.ts'
import { mcpToolServices } from '../../../adapters/tools/mcp/connect-tools.ts'
import type { ToolServices } from '../../kernel/tools/tool-service.ts'

/** Above what any service of this program offers: the largest role has some fifty tools, and 64 levels are those of a request. */
const limits = { answer_ms: 10_000, answer_bytes: 16 * 1_048_576, depth: 128, tools: 2_000 }

/** The operator names the service, which is most often the site itself. */
export function openToolServices(): ToolServices {
  return mcpToolServices({ about: { name: product.name, version: product.version }, limits, rule: anyAddress })
}
