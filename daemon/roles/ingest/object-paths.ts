// The two paths under which an operation of this role is served: `/userspace` and its earlier name `/api/v1`.

/** `rest`: the path after the prefix, such as `datapipeline/{uid}`. */
export function objectPaths(rest: string): { readonly path: string; readonly also: readonly string[] } {
  return { path: `/userspace/${rest}`, also: [`/api/v1/${rest}`] }
}
