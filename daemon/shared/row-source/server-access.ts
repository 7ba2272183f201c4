// How a source that is a server is reached, whatever it speaks.
export type ServerAccess = {
  readonly host: string
  readonly port: number
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly tls: 'verify' | 'off'
  /** Authorities in PEM instead of the known ones. */
  readonly ca?: string | undefined
}
