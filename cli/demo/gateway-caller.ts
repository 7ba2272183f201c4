// The AI client of the demo of the gateway: it knows the edge, and has a token of its user.
import { parseJson } from '../../daemon/kernel/encoding/parse-json.ts'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import type { ToolConnection, ToolServiceAddress } from '../../daemon/kernel/tools/tool-service.ts'
import { offline } from '../../daemon/offline/offline.ts'
import type { ApiObject } from '../client/client.ts'

const call_ms = 20_000

/** `failure`: why the tool did not answer; its content is empty then. */
export type ToolAnswer = { readonly content: ApiObject; readonly failure?: string }

export class GatewayCaller {
  readonly #connection: ToolConnection
  readonly #signal: AbortSignal

  private constructor(connection: ToolConnection, signal: AbortSignal) {
    this.#connection = connection
    this.#signal = signal
  }

  /** `ca`: only where the URL is that of the edge. Throws `Refusal` where the token is not accepted. */
  static async connect(
    { url, ca }: Pick<ToolServiceAddress, 'url' | 'ca'>,
    token: string,
    signal: AbortSignal,
  ): Promise<GatewayCaller> {
    const { openToolServices } = await offline.toolServices()
    const connection = await openToolServices().connect({ url, ca, token: async () => token }, signal)
    return new GatewayCaller(connection, signal)
  }

  get revision(): string {
    return this.#connection.revision
  }

  async listNames(): Promise<readonly string[]> {
    return (await this.#connection.listTools()).map(({ name }) => name)
  }

  async call(name: string, input: ApiObject): Promise<ToolAnswer> {
    try {
      const request = { name, input, timeout_ms: call_ms, cancelled: this.#signal }
      const { is_error, structured_content = {}, content } = await this.#connection.callTool(request)
      if (!is_error) return { content: structured_content }
      return { content: {}, failure: describeProblem(String(content[0]?.text)) }
    } catch (error) {
      if (!isRefusal(error) || this.#signal.aborted) throw error
      return { content: {}, failure: error.message }
    }
  }

  async stop(): Promise<void> {
    await this.#connection.close()
  }
}

/** Of the problem document of a service; the text itself where it is none. */
function describeProblem(text: string): string {
  const problem = parseJson(Buffer.from(text)) as { readonly code?: string; readonly detail?: string } | undefined
  return problem?.code === undefined ? text : `${problem.code}: ${problem.detail}`
}
