// What an ingress controller makes of ingresses: written apart from the function that renders them, by the Ingress API alone.

type IngressLike = {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> | undefined }
  readonly spec?: unknown
}

type IngressPath = {
  readonly path: string
  readonly pathType: string
  readonly backend: { readonly service: { readonly name: string } }
}

type IngressRule = { readonly host?: string; readonly http: { readonly paths: readonly IngressPath[] } }

/** For a host that no rule names: the longest prefix of whole segments, then the higher priority of the annotation. */
export function findIngressRoute(ingresses: readonly IngressLike[], path: string, annotation: string) {
  const found = ingresses.flatMap(({ metadata, spec }) =>
    (spec as { readonly rules: readonly IngressRule[] }).rules
      .filter(({ host }) => host === undefined)
      .flatMap(({ http }) => http.paths)
      .filter((each) => each.pathType === 'Prefix' && isBelow(path, each.path))
      .map((each) => ({
        ...{ length: each.path.length, service: each.backend.service.name },
        priority: Number(metadata.annotations?.[annotation]),
      })),
  )
  const [best] = found.sort((one, other) => other.length - one.length || other.priority - one.priority)
  return best && { service: best.service, priority: best.priority }
}

function isBelow(path: string, prefix: string): boolean {
  const segments = (text: string) => text.split('/').filter((segment) => segment !== '')
  const wanted = segments(prefix)
  return segments(path).slice(0, wanted.length).join('/') === wanted.join('/')
}
