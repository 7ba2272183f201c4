// Names of what a run leaves on the machine if this process is killed, so that the next one can tell it from a live run.
import * as fs from 'node:fs'

/** Begins the name of a folder or group: a process is known by its number within its PID namespace. */
export function runNamePrefix(): string {
  return `platform-sandbox-${pidNamespace()}-${process.pid}-`
}

/** Whether the process that gave this name has ended; false for other names and other PID namespaces. */
export function isAbandoned(name: string): boolean {
  const [, namespace, pid] = /^platform-sandbox-(\d+)-(\d+)-/.exec(name) ?? []
  return namespace === pidNamespace() && !fs.existsSync(`/proc/${pid}`)
}

function pidNamespace(): string {
  return /\d+/.exec(fs.readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''
}
