// Actions of audit records, found in the code itself.
import type { AddressedOperation } from '../../../daemon/kernel/operation/operation.ts'
import { listRepositoryFiles, readSource } from '../repository/source-tree.ts'

const written = /(?:\baudited\(|\baction: )['`]([a-z][a-z-]*(?:\.[a-z_-]+)+)['`]/g
const isSource = (file: string) => /^(adapters|daemon)\/.*(?<!\.test)\.tsx?$/.test(file)

/** Actions that code names beside the addresses of operations, sorted. */
export function findWrittenActions(): string[] {
  const sources = listRepositoryFiles().filter(isSource).map(readSource)
  return [
    ...new Set(sources.flatMap(({ text }) => [...text.matchAll(written)].map(([, action = '']) => action))),
  ].sort()
}

/** Operations that change something: their address is the action of the record of what they did, and of their refusal. */
export function listChanges(operations: readonly AddressedOperation[]): string[] {
  return operations
    .filter(({ operation }) => operation.method !== 'GET')
    .map(({ address }) => address)
    .sort()
}
