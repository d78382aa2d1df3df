/** A message that is ready to be sent: the body of a request to an HTTP gateway and to the local mailbox. */
export interface Message {
  /** `msg_` and a ULID: the same for another attempt, so that a gateway can tell one. */
  id: string
  /** Key of the template. */
  template: string
  channel: 'email' | 'sms'
  /** One address, or one phone number. */
  to: string
  /** An address, or `Name <address>`. Of a text message a number or a name, empty where the gateway has its own. */
  from: string
  reply_to: string | null
  /** Empty for a text message. */
  subject: string
  text: string
  /** Empty for a text message. */
  html: string
}
