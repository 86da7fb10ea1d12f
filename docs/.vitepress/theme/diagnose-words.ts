import type { Diagnosis } from '@paylink/core/diagnose';

/** What the form that diagnoses a signature says, beside what the diagnosis itself says. */
export interface DiagnoseWords {
  readonly insecure: string;
  readonly file: string;
  readonly text: string;
  readonly secret: string;
  readonly submit: string;
  readonly likely: string;
  /** In place of the sentences of core, which are in English. */
  readonly matches?: string;
  readonly causes?: Readonly<Record<NonNullable<Diagnosis['cause']>, string>>;
}

const ENGLISH: DiagnoseWords = {
  insecure:
    'Browsers compute signatures on https: and on localhost only. Open this page there, or run: npx --no-install paylink diagnose',
  file: 'Body, as a file: the exact bytes',
  text: 'Or as text',
  secret: 'The receiver’s secret',
  submit: 'Diagnose',
  likely: '(Likely, not proven: what was signed cannot be restored.)',
};

const OCTETS_BRUTS =
  'Vérifiez les octets tels qu’ils sont reçus : lisez le corps brut avant tout body parser, et n’en mettez aucun sur cette route.';

const FRENCH: DiagnoseWords = {
  insecure:
    'Les navigateurs ne calculent des signatures que sur https: et sur localhost. Ouvrez cette page là, ou lancez : npx --no-install paylink diagnose',
  file: 'Le corps, en fichier : les octets exacts',
  text: 'Ou en texte',
  secret: 'Le secret du récepteur',
  submit: 'Diagnostiquer',
  likely: '(Probable, non prouvé : ce qui a été signé ne peut pas être retrouvé.)',
  matches: 'La signature est bien celle de ces octets.',
  causes: {
    signature_missing:
      'Il n’y a pas de signature. Vérifiez que X-Service-Signature est lu, et qu’un proxy le laisse passer.',
    signature_repeated:
      'Il y a plus d’une signature : l’en-tête a été envoyé deux fois, ou un proxy en a ajouté un. Une seule est acceptée.',
    signature_blanks:
      'La signature est entourée d’espaces : passez la valeur de l’en-tête telle quelle.',
    signature_quoted: 'La signature est entre guillemets : le service l’envoie sans guillemets.',
    signature_prefixed:
      'La signature a un préfixe tel que « sha256= » : le service envoie seulement les 64 chiffres hexadécimaux. Vérifiez que c’est bien son en-tête.',
    signature_base64:
      'La signature est en base64 : le service envoie de l’hexadécimal en minuscules. Signez avec digest("hex").',
    signature_uppercase:
      'La signature est en hexadécimal majuscule : le service envoie des minuscules, et aucune autre écriture n’est acceptée.',
    signature_truncated: 'La signature est coupée : elle doit avoir 64 chiffres hexadécimaux.',
    signature_extended:
      'La signature a des caractères en trop à la fin : elle doit avoir 64 chiffres hexadécimaux et rien d’autre.',
    signature_malformed:
      'La signature n’est ni 64 chiffres hexadécimaux en minuscules, ni une autre écriture d’un SHA-256. Vérifiez que c’est le bon en-tête.',
    signature_algorithm:
      'La signature a la longueur d’une autre empreinte (SHA-1 ou SHA-512) : le service signe en HMAC-SHA256.',
    secret_missing:
      'Il n’y a pas de secret. Vérifiez que sa variable d’environnement est définie là où ce processus tourne.',
    secret_placeholder:
      'Le secret n’est qu’une valeur d’attente, telle que « undefined ». Vérifiez comment il est lu dans l’environnement.',
    secret_api_key:
      'Le secret est une clé d’API (sk_live_…) : le portail marchand montre une autre valeur pour les webhooks.',
    secret_blanks:
      'Le secret a un espace ou un saut de ligne à un bout ici et non chez le signataire, ou l’inverse : enregistrez-le sans.',
    secret_quoted: 'Le secret est entre guillemets : enregistrez-le sans guillemets.',
    secret_assignment:
      'Le secret commence par son propre nom, comme une ligne d’un fichier .env : n’enregistrez que ce qui suit le « = ».',
    secret_masked:
      'Le secret est une copie masquée, telle que « whsec_•••• ». Affichez-le dans le portail avant de le copier.',
    secret_encoding:
      'Un côté prend pour clé les caractères du secret, l’autre les octets qu’ils codent en hexadécimal ou en base64. La clé, ce sont les caractères tels que le portail les montre.',
    secret_fixture:
      'La signature a été faite avec TEST_SECRET de @paylink/testing, et le récepteur a un autre secret. Dans un test, donnez le même secret aux deux.',
    body_parsed: `Le corps est un objet fait par un body parser, et non des octets. ${OCTETS_BRUTS}`,
    body_reserialized: `Un body parser JSON a lu le corps, qui a été réécrit avec d’autres octets (espaces, ordre des clés, échappements, nombres). ${OCTETS_BRUTS}`,
    body_buffer: `Le corps est l’écriture d’un Buffer en texte, et non ses octets : JSON.stringify ou String lui a été appliqué. ${OCTETS_BRUTS}`,
    body_enveloped:
      'Le texte signé est dans le `body` d’un événement API Gateway. Vérifiez ce texte, décodé si isBase64Encoded est vrai, et non l’événement.',
    body_newline:
      'Un espace ou un saut de ligne a été ajouté ou retiré au début ou à la fin du corps : les octets doivent être ceux qui ont été signés. Regardez si un éditeur a enregistré le corps, ou si echo l’a envoyé à la place de printf.',
    body_line_breaks:
      'Les sauts de ligne du corps ont été changés (LF, CR LF). Regardez s’il a été enregistré sur un autre système, ou envoyé comme texte.',
    body_bom: `Une marque d’ordre des octets (BOM) a été ajoutée ou retirée devant le corps, comme le font décodeurs et éditeurs. ${OCTETS_BRUTS}`,
    body_base64:
      'Le corps est en base64, comme le passent Lambda et API Gateway : décodez-le d’abord là où isBase64Encoded est vrai.',
    body_decoded: `Le corps a été décodé comme texte puis recodé, ce qui a changé des octets. ${OCTETS_BRUTS}`,
    body_empty:
      'Le corps est vide, ou l’était quand il a été signé : un body parser exécuté avant l’a consommé. Placez le webhook au-dessus du body parser.',
    body_compressed:
      'Le corps est compressé : la signature porte sur les octets envoyés par le service, et il les envoie sans Content-Encoding.',
    body_too_complex:
      'Le corps est trop long ou trop imbriqué pour tout essayer, et ce qui a été essayé ne donne pas la signature. Si « paylink diagnose » ne trouve rien non plus, vérifiez que le secret est celui de cette URL.',
    unknown:
      'Aucune faute habituelle ne donne cette signature. Le plus probable : le secret est un autre, celui d’une autre URL ou d’un autre environnement, ou il a été remplacé dans le portail. Sinon le corps a été changé sans laisser de trace : comparez sa longueur et son SHA-256 des deux côtés.',
  },
};

export const wordsOf = (lang: string): DiagnoseWords => (lang === 'fr' ? FRENCH : ENGLISH);
