/** Several statements, one Sync: one round trip, and nothing runs after the first that fails (contract 5.2). */

export interface Statement {
  text: string
  /** Bound as text. */
  values: readonly (string | null)[]
}

/** As Postgres wrote it, so that it may cross from one isolate to another; `rowsOf` reads it. */
export interface Result {
  /** The command tag: `SELECT 1`; a COMMIT of a failed transaction comes back as `ROLLBACK`. */
  tag: string
  columns: { name: string; type: number }[]
  rows: (string | null)[][]
}

/** The part of the driver's connection that sends messages of the extended query protocol. */
interface Wire {
  parse(message: { text: string; name: string; types: never[] }): void
  bind(message: { portal: string; statement: string; values: unknown[]; binary: boolean }): void
  describe(message: { type: 'P'; name: string }): void
  execute(message: { portal: string; rows: number }): void
  sync(): void
}

const noStream = 'COPY … FROM STDIN: a request has no stream to copy from'

/** What the driver's client accepts in place of a query. */
export class Flight {
  readonly done: Promise<Result[]>
  #statements: readonly Statement[]
  #next: Flight | undefined
  #isSent = false
  #results: Result[] = []
  #columns: Result['columns'] = []
  #rows: Result['rows'] = []
  #isCopying = false
  #resolve!: (results: Result[]) => void
  #reject!: (error: unknown) => void

  /** @param next leaves together with this one, whatever becomes of it: the driver is given it right after. */
  constructor(statements: readonly Statement[], next?: Flight) {
    this.#statements = statements
    this.#next = next
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  submit(wire: Wire): void {
    this.#send(wire)
    if (this.#next) this.#next.#send(wire)
  }

  #send(wire: Wire): void {
    if (this.#isSent) return
    this.#isSent = true
    for (const { text, values } of this.#statements) {
      wire.parse({ text, name: '', types: [] })
      wire.bind({ portal: '', statement: '', values: [...values], binary: false })
      wire.describe({ type: 'P', name: '' })
      wire.execute({ portal: '', rows: 0 })
    }
    wire.sync()
  }

  handleRowDescription(message: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#columns = message.fields.map(({ name, dataTypeID }) => ({ name, type: dataTypeID }))
  }

  handleDataRow(message: { fields: (string | null)[] }): void {
    this.#rows.push(message.fields)
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#results.push({ tag: text, columns: this.#columns, rows: this.#rows })
    this.#columns = []
    this.#rows = []
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' })
  }

  handleReadyForQuery(): void {
    this.#resolve(this.#results)
  }

  /** After an error the driver calls nothing else of this flight. */
  handleError(error: unknown): void {
    // Postgres complains of the statement that came where it wanted data: the flight goes on after its Sync
    this.#reject(this.#isCopying ? Object.assign(new Error(noStream), { code: '0A000' }) : error)
  }

  handlePortalSuspended(): void {}

  handleCopyInResponse(): void {
    this.#isCopying = true
  }

  handleCopyData(): void {}
}
