// The streams of a server that runs in the sandbox, as its reader gets them: none of them throws when the server ends.
import type { ChildProcess } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { SandboxStreams } from '../../../daemon/kernel/sandbox/sandbox.ts'

/** Of a process whose standard error is descriptor 3, since the setup prints on 2. */
export function connectStreams({ stdio }: ChildProcess): SandboxStreams {
  const input = stdio[0] as Writable
  // A server that has ended, or has closed its input, takes nothing more: its end says so.
  input.on('error', () => undefined)
  return {
    write: (bytes) =>
      new Promise((resolve) => {
        if (input.destroyed || input.writableEnded) resolve()
        else input.write(bytes, () => resolve())
      }),
    endInput: () => input.end(),
    stdout: readUntilEnd(stdio[1] as Readable),
    stderr: readUntilEnd(stdio[3] as Readable),
  }
}

async function* readUntilEnd(stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of stream) yield chunk as Uint8Array
  } catch {
    // It is destroyed with the server.
  }
}
