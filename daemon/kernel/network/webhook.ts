// The endpoint of a webhook that a site notifies.

/** `secret_file`: the file with the secret that requests are signed with. */
export type WebhookEndpoint = { readonly url: string; readonly secret_file: string }
