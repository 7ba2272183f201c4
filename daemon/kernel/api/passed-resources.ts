// Resources of other services that a role offers: described as their services do, and read through an operation.
import type { AddressedOperation } from '../operation/operation.ts'
import type { RemoteResource } from '../tools/remote-resource.ts'

/** `target`: its input is the URI that is read, as `uri`; it answers with `PassedContents`. */
export type PassedResource = RemoteResource & { readonly target: AddressedOperation }
