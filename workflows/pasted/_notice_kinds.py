"""What a sentence of a monitor, a NAS or a controller's log is about, in the languages in which they write: the first kind that fits counts.

Synology, QNAP and their kind send the same sentences in the language that was chosen for them; only the words differ.
"""

from __future__ import annotations

import re

from workflows.engine.core import Severity

Kind = tuple[re.Pattern[str], str, Severity, str]  # what the sentence has, the situation, how grave, in which words
TOPICS = (  # what such a sentence is about
    r"drives?|dis[ck]s?|volumes?|storage pools?|arrays?|RAID|HDD|SSD|Laufwerke?|Festplatten?|Datenträger|Speicherpools?|disques?|lecteur|groupe de stockage"
    r"|discos?|unidade?s?|grupo de almacenamiento|volumen|unità|pool di archiviazione|schijf|schijven|opslagpool|dysk\w{0,3}|wolumin\w{0,3}|диск\w{0,3}|накопител\w{0,3}|том"
    r"|硬盘|硬碟|磁盘|磁碟|存储池|儲存池|ディスク|ドライブ|ストレージプール"
)
_POOL = r"(?:storage pool|volume|array|RAID|Speicherpool|groupe de stockage|pool de stockage|grupo de almacenamiento|volumen|pool di archiviazione|opslagpool|pool de armazenamento|pul\w{1,3} pamięci|wolumin|пул\w{0,2} хранения|том|存储池|儲存池|ストレージプール)"
_DISK = r"(?:drive|disk|HDD|SSD|PD|Laufwerk|Festplatte|Datenträger|disque|lecteur|disco|unidade?|unità|schijf|dysk|диск|накопител\w{1,2}|硬盘|硬碟|磁盘|磁碟|ディスク|ドライブ)"


def _of(pattern: str) -> re.Pattern[str]:
    return re.compile(f"(?i){pattern}")


_DEGRADED = r"heruntergestuft|degradiert|beeinträchtigt|dégradé|degradad|degradat|gedegradeerd|verslechterd|zdegradowan|деградир|ухудш|降级|降級|劣化"
_CRASHED = r"abgestürzt|ausgefallen|en panne|planté|bloquead|bloccat|gecrasht|falh|вышел из строя|损毁|損毀|クラッシュ"
_FAILED = (
    r"ausgefallen|defekt|fehlgeschlagen|abgestürzt|kritisch|défaillan|en panne|échou|défectueu|critique|fall(?:ó|ad|o)|averiad|defectuos|crític|guast|difettos|critic[oa]"
    r"|defect|mislukt|kritiek|gecrasht|falh|defeituos|awari|uszkodz|krytyczn|вышел из строя|сбой|неисправ|критич|故障|损坏|損壞|失效|异常|異常|クラッシュ"
)
_AWAY = (
    r"entfernt|abgezogen|getrennt|nicht (?:erkannt|gefunden)|débranché|retiré|déconnecté|introuvable|desconectad|extraíd|retirad|scollegat|rimoss|disconness"
    r"|losgekoppeld|verwijderd|odłączon|usunięt|отключ|извлеч|移除|拔出|取り外"
)
_SECTORS = (
    r"(?:fehlerhafte|defekte|beschädigte)n? (?:Sektoren|Blöcke)|Lesefehler|Schreibfehler|E/A-Fehler|secteurs? (?:défectueu|illisible)|erreurs? (?:de lecture|d'E/S)"
    r"|sector(?:es)? (?:defectuos|dañad)|errores de (?:lectura|E/S)|error de (?:lectura|E/S)|settor[ei] (?:danneggiat|difettos)|error[ei] di (?:lettura|I/O)"
    r"|slechte sectoren|leesfout|setores? (?:defeituos|danificad)|erros? de leitura|uszkodzon\w{1,4} sektor|błąd odczytu|(?:повреждённ|поврежденн|сбойн)\w{0,4} сектор|ошибк\w{1,3} чтения"
    r"|坏扇区|壞軌|坏道|不良セクタ|I/O ?エラー"
)
_DENIES = re.compile(r"(?i)\b(?:nicht|kein\w{0,2}|n'est pas|ne .{1,40} pas|aucune?|nunca|jamais|nessun\w?|niet|geen|не|нет|brak)\b")
OTHER_LANGUAGES: tuple[Kind, ...] = (
    (_of(rf"{_POOL}.{{0,60}}(?:{_DEGRADED})"), "vdev-degraded", "act", "an array or a pool is degraded"),
    (_of(rf"{_POOL}.{{0,60}}(?:{_CRASHED})"), "pool-down", "act", "an array, volume or pool is down"),
    (_of(_SECTORS), "disk-errors", "watch", "a disk has blocks or commands that failed"),
    (_of(rf"{_DISK}.{{0,80}}(?:{_AWAY})"), "disk-missing", "watch", "a disk is away"),
    (_of(rf"{_DISK}.{{0,80}}(?:{_FAILED})"), "disk-failing", "act", "a disk has failed"),
    (_of(r"überhitz|zu heiß|Temperatur.{0,60}(?:zu hoch|überschr)|surchauff|température.{0,60}(?:trop élevée|dépass)|sobrecalent|surriscald|oververhit|przegrz|перегрев|过热|過熱"), "disk-hot", "watch", "a disk is too hot"),
    (_of(r"Lebensdauer|Verschleiß|durée de vie|usure|vida útil|desgaste|usura|levensduur|żywotnoś|срок службы|износ|寿命|壽命"), "disk-worn", "watch", "an SSD is worn"),
)  # fmt: skip
# Logs of controllers and of a machine's own management, and alerts that name the state in capitals
MACHINES: tuple[Kind, ...] = (
    (_of(r"\"Completed: [a-z ]{2,40}failure\""), "disk-failing", "act", "a self-test of it failed"),
    (_of(r"predictive failure|PD predictive|SMART (?:status|health|trip).{0,30}(?:fail|not ok|bad|trip)|FailurePredicted|imminent"), "disk-failing", "act", "its own record says that it fails or will fail"),
    (_of(r"(?:VD|virtual (?:disk|drive)|logical drive|array).{0,60}(?:degraded|interim recovery|critical)|In Critical Array|to (?:PARTIALLY )?DEGRADED"), "vdev-degraded", "act", "an array or a pool is degraded"),
    (_of(r"(?:VD|virtual (?:disk|drive)|logical drive|array).{0,60}(?:offline|failed)|In Failed Array"), "pool-down", "act", "an array, volume or pool is down"),
    (_of(r"[Ff]ault detected on (?:drive|disk)|Drive Fault|asserted fault state|Device failed|to:? FAILED|Storage Enclosure Device Failure|(?:PD|drive|disk).{0,60}(?:is (?:now )?FAILED|fault type|too many medium errors)|SMART.{0,60}FAIL(?:ED|ING)|test result is not passed"), "disk-failing", "act", "a disk has failed"),
    (_of(r"Drive timeout|Command timeout on PD|\bPD .{0,100}\breset \(Type"), "disk-hangs", "watch", "the controller waited for a disk and reset it"),
    (_of(r"Drive ECC error|[Rr]eallocated sector count|Sense key: {0,3}3\b|medium errors?|media errors?|Sense: {0,2}[0-9a-f]{1,2}/11/"), "disk-errors", "watch", "a disk has blocks or commands that failed"),
    (_of(r"(?:PD|drive|disk).{0,60}(?:removed|missing|not present)|Removed: PD|to (?:OFFLINE|MISSING)"), "disk-missing", "watch", "a disk is away"),
    (_of(r"SAS error counts|link errors?|link speed changed|PHY.{0,40}(?:error|lost)"), "link-crc", "watch", "transfers to a disk came damaged, or its link failed"),
    (_of(r"(?:power supply|PSU|fan|enclosure|EMM|temperature sensor).{0,60}(?:fail|lost|critical|not ok|non-recoverable)|redundancy lost|transition to (?:critical|non-recoverable)"), "enclosure-fault", "watch", "a part of the machine or of a shelf failed"),
    (_of(r"(?:battery|BBU|capacitor|cache module).{0,60}(?:fail|low|replace|degraded|not ok)|controller.{0,60}(?:fail|reset|lockup|hung)"), "hba-fault", "watch", "a controller, or its battery, is not well"),
)  # fmt: skip


def of_sentence(sentence: str) -> Kind | None:
    """The kind of a sentence in another language, or of a machine's log; None where no word of it is known."""
    found = next((kind for kind in MACHINES if kind[0].search(sentence)), None)
    return found or next((kind for kind in OTHER_LANGUAGES if _reports(sentence, kind)), None)


def of_language(sentence: str) -> bool:
    """Whether it is a sentence of a kind that only another language than English has words for."""
    return any(_reports(sentence, kind) for kind in OTHER_LANGUAGES)


_ENDS = re.compile(r"[.!?] (?=[A-ZÀ-ÞА-Я])|[。！？]")


def _reports(sentence: str, kind: Kind) -> bool:
    """Whether one of its sentences is of the kind and does not deny it: what a mail advises against below is no denial of what it reports."""
    return any(kind[0].search(each) and not _denies(each) for each in _ENDS.split(sentence))


def _denies(sentence: str) -> bool:
    """Whether it says that something is not so; "nicht erkannt" and "nicht gefunden" say that a disk is away."""
    return _DENIES.search(re.sub(r"(?i)nicht (?:erkannt|gefunden)", "", sentence)) is not None
